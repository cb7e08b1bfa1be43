/* Obsidian.com, as the app installs it beside Obsidian.exe: here it starts the stand-in.

   Obsidian.line beside it begins the command line; our own words follow as they came, to the last quote. */
#include <windows.h>

#define MOST 40000

static WCHAR *words(WCHAR *line) {
    BOOL quoted = FALSE;
    for (; *line && (quoted || (*line != L' ' && *line != L'\t')); line++)
        if (*line == L'"') quoted = !quoted;
    return line;
}

int wmain(void) {
    static WCHAR place[MAX_PATH * 4], line[MOST];
    static char begins[MOST];
    DWORD size = 0, code = 1;
    DWORD length = GetModuleFileNameW(NULL, place, MAX_PATH * 4);
    lstrcpyW(place + length - 3, L"line");
    HANDLE file = CreateFileW(place, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE || !ReadFile(file, begins, MOST - 1, &size, NULL)) return 127;
    CloseHandle(file);
    MultiByteToWideChar(CP_UTF8, 0, begins, size, line, MOST);
    WCHAR *own = words(GetCommandLineW());
    if (lstrlenW(line) + lstrlenW(own) >= MOST) return 127;
    lstrcatW(line, own);
    STARTUPINFOW start = {sizeof start};
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION made;
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made)) return 127;
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &code);
    return (int)code;
}
