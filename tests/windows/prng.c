/* bcryptprimitives.dll, which Wine 8 does not have: Rust's library, and so pydantic_core, takes its random bytes there. */
#include <windows.h>

#define MOST 0x10000000 /* bytes at once: SystemFunction036 (RtlGenRandom) counts in 32 bits */

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
    while (length) {
        ULONG part = length > MOST ? MOST : (ULONG)length;
        if (!SystemFunction036(buffer, part)) return FALSE;
        buffer += part;
        length -= part;
    }
    return TRUE;
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved) {
    return TRUE;
}
