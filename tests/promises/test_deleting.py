from __future__ import annotations

from tests.promises.ground import Ground


def test_delete_goes_to_the_trash(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    assert ground.call("delete_note", name=path) == {"path": path, "deleted": True, "trashed": True}
    assert not ground.has(path)


def test_permanent_removes_for_good(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    assert ground.call("delete_note", name=path, permanent=True) == {"path": path, "deleted": True, "trashed": False}
    assert b"text" not in ground.files().values()


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
