"""What only its owner may look into."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from warren.files import (
    append_private,
    create_private,
    make_private_folder,
    write_private,
)


@pytest.fixture(params=[0o000, 0o022, 0o277], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def append(path: Path, text: str) -> None:
    with os.fdopen(append_private(path), "a") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("write", "found"), [(write_private, "new"), (create_private, "new"), (append, "new")]
)
def test_a_new_file(tmp_path: Path, write: Callable[[Path, str], None], found: str) -> None:
    file = tmp_path / "file"
    write(file, "new")
    assert (mode(file), file.read_text()) == (0o600, found)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("write", "found"), [(write_private, "new"), (append, "oldnew")])
def test_a_file_that_others_could_read(
    tmp_path: Path, write: Callable[[Path, str], None], found: str
) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o666)
    write(file, "new")
    assert (mode(file), file.read_text()) == (0o600, found)
    assert list(tmp_path.iterdir()) == [file]


def test_who_has_the_old_file_open_reads_no_new_secret(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with file.open() as reader:
        write_private(file, "new")
        assert reader.read() == "old"


def test_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_private(link, "new")
    assert link.is_symlink()
    assert (mode(file), file.read_text()) == (0o600, "new")


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no regular file"):
        write_private(pipe, "new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(FileExistsError):
        create_private(pipe, "new")


def test_folders(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    old.chmod(0o755)
    for folder in (new, old):
        make_private_folder(folder)
        make_private_folder(folder)
        assert mode(folder) == 0o700


def test_a_folder_for_everybody_is_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(PermissionError, match="everybody's"):
        make_private_folder(shared)
    assert mode(shared) == 0o1777
