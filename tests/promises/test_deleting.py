from __future__ import annotations

from tests.promises.ground import Ground


def test_delete_goes_to_the_trash(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    done = ground.call("delete_note", name=path)
    assert (done["path"], done["deleted"], done["trashed"]) == (path, True, True)
    assert not ground.has(path)


def test_permanent_removes_for_good(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    done = ground.call("delete_note", name=path, permanent=True)
    assert (done["path"], done["deleted"], done["trashed"]) == (path, True, False)
    assert b"text" not in ground.files().values()


def test_a_deletion_says_how_many_notes_link_to_what_is_gone(without_app: Ground) -> None:
    note, picture = without_app.put("Note.md", "[[Note]]"), without_app.put("Picture.png", b"\x89PNG")
    without_app.put("One.md", "[[Note]] ![[Picture.png]]")
    without_app.put("Two.md", "[x](Note.md), and again [[Note]]")
    assert without_app.call("delete_note", name=note)["links_in"] == 2
    assert without_app.call("delete_note", name=picture)["links_in"] == 1
    assert without_app.call("delete_note", name="One")["links_in"] == 0


def test_with_the_app_the_links_are_not_counted(with_app: Ground) -> None:
    assert "links_in" not in with_app.call("delete_note", name=with_app.put("Note.md", "text"))


def test_a_picture_can_be_deleted(ground: Ground) -> None:
    path = ground.put("Picture.png", b"\x89PNG\xff\xfe")
    assert ground.call("delete_note", name=path)["deleted"] is True


def test_if_match_guards_a_deletion(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    assert ground.fails("delete_note", name=path, if_match="nope").error_code == "CONFLICT"
    assert ground.call("delete_note", name=path, if_match=ground.call("file_info", name=path)["etag"])["deleted"]


def test_a_note_that_is_not_there_cannot_be_deleted(ground: Ground) -> None:
    ground.put("Noté.md", "text")
    failure = ground.fails("delete_note", name=ground.at("Nope.md"))
    assert (failure.code, failure.error_code) == (-32003, "FILE_NOT_FOUND")
