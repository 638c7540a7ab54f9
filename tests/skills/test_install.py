"""Installing skills: whole and checked, or not at all, with the reason."""

import ast
import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.commands.skills import SkillsError, list_skills, run_skill
from service_tui.skills import checking
from service_tui.skills import install as installing
from service_tui.skills.checking import problems_of
from service_tui.skills.install import SkillRefusedError, forget_halves, install
from service_tui.skills.package import BUNDLED, entry_script, installed, read_package
from service_tui.skills.template import new_skill

DOCUMENT = "---\nname: rain\ndescription: Buys rain.\nmetadata:\n  version: 1.0.0\n---\n"
SCRIPT = "print('wet')\n"


def folder(where: Path, files: dict[str, str] | None = None, name: str = "rain") -> Path:
    path = where / name
    path.mkdir(parents=True)
    for said, text in ({"SKILL.md": DOCUMENT, "run.py": SCRIPT} | (files or {})).items():
        (path / said).parent.mkdir(parents=True, exist_ok=True)
        (path / said).write_text(text, encoding="utf-8")
    return path


def nothing(into: Path) -> bool:
    return not list(into.iterdir())


def test_a_folder_is_installed_whole(tmp_path: Path) -> None:
    source, into = folder(tmp_path, {"scripts/status.py": "", "__pycache__/x": ""}), tmp_path / "in"
    made = install(source, into)
    assert (made.slug, made.version) == ("rain", "1.0.0")
    names = sorted(str(one.relative_to(into)) for one in into.rglob("*"))
    assert names == [
        "rain",
        "rain/SKILL.md",
        "rain/run.py",
        "rain/scripts",
        "rain/scripts/status.py",
    ]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tgz", "tar.xz", "tar.bz2"])
@pytest.mark.parametrize("top", ["", "rain/"])
def test_an_archive_is_installed_with_and_without_its_folder(
    tmp_path: Path, kind: str, top: str
) -> None:
    source, into = tmp_path / f"some.{kind}", tmp_path / "in"
    if kind == "zip":
        with zipfile.ZipFile(source, "w") as archive:
            archive.writestr(f"{top}SKILL.md", DOCUMENT)
            archive.writestr(f"{top}run.py", SCRIPT)
    else:
        packed = {"tar": "w", "tgz": "w:gz"}.get(kind, f"w:{kind[4:]}")
        with tarfile.open(source, packed) as archive:  # type: ignore[call-overload]
            for name, text in (("SKILL.md", DOCUMENT), ("run.py", SCRIPT)):
                info = tarfile.TarInfo(f"{top}{name}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
    assert install(source, into).slug == "rain"
    assert [one.name for one in into.iterdir()] == ["rain"]


def of_windows(where: Path, *more: str) -> Path:
    """An archive as PowerShell packs one: with backslashes, and folders of their own."""
    source = where / "windows.zip"
    texts = {"rain\\data\\": "", "rain\\SKILL.md": DOCUMENT, "rain\\run.py": SCRIPT}
    with zipfile.ZipFile(source, "w") as archive:
        for name in (*texts, "rain\\data\\words.txt", *more):
            info = zipfile.ZipInfo(name)
            info.create_system = 0
            archive.writestr(info, texts.get(name, "words"))
    return source


def test_an_archive_with_backslashes_of_windows_has_its_folders(tmp_path: Path) -> None:
    into = tmp_path / "in"
    assert install(of_windows(tmp_path), into).slug == "rain"
    assert (into / "rain" / "data" / "words.txt").read_text() == "words"
    assert sorted(one.name for one in (into / "rain").iterdir()) == ["SKILL.md", "data", "run.py"]


@pytest.mark.parametrize("name", ["rain\\..\\..\\evil.py", "\\evil.py", "C:\\evil.py"])
def test_backslashes_lead_no_more_out_of_the_folder_than_slashes(tmp_path: Path, name: str) -> None:
    with pytest.raises(SkillRefusedError, match="leads out"):
        install(of_windows(tmp_path, name), tmp_path / "in")
    assert nothing(tmp_path / "in")


def _with_link(where: Path) -> Path:
    source = folder(where)
    Path(source / "notes.txt").symlink_to("/etc/passwd")
    return source


def _folder_link(where: Path) -> Path:
    Path(where / "other").symlink_to(folder(where))
    return where / "other"


def _pipe(where: Path) -> Path:
    source = folder(where)
    os.mkfifo(source / "pipe")
    return source


def _zip_of(name: str) -> Callable[[Path], Path]:
    def make(where: Path) -> Path:
        with zipfile.ZipFile(where / "bad.zip", "w") as archive:
            archive.writestr("SKILL.md", DOCUMENT)
            archive.writestr("run.py", SCRIPT)
            archive.writestr(name, "evil")
        return where / "bad.zip"

    return make


def _tar_with(kind: bytes) -> Callable[[Path], Path]:
    def make(where: Path) -> Path:
        with tarfile.open(where / "bad.tar", "w") as archive:
            info = tarfile.TarInfo("run.py")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        return where / "bad.tar"

    return make


def _bomb(where: Path) -> Path:
    with zipfile.ZipFile(where / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", DOCUMENT)
        archive.writestr("run.py", " " * 20_000_000)
    return where / "bomb.zip"


def _many(where: Path) -> Path:
    return folder(where, {f"part{count}.txt": "" for count in range(300)})


def _torn(where: Path) -> Path:
    whole = _bomb(where).read_bytes()
    (where / "torn.zip").write_bytes(whole[: len(whole) // 2])
    return where / "torn.zip"


def _text(where: Path) -> Path:
    (where / "skill.txt").write_text("no skill")
    return where / "skill.txt"


def _of(files: dict[str, str], name: str = "rain") -> Callable[[Path], Path]:
    return lambda where: folder(where, files, name)


def _without(name: str) -> Callable[[Path], Path]:
    def make(where: Path) -> Path:
        (folder(where) / name).unlink()
        return where / "rain"

    return make


BAD: list[tuple[Callable[[Path], Path], str]] = [
    (_without("SKILL.md"), "no SKILL.md"),
    (_without("run.py"), "no entry script"),
    (_of({"SKILL.md": "# Rain\n"}), "does not begin with ---"),
    (_of({"SKILL.md": "---\nname: rain\n"}), "does not end"),
    (_of({"SKILL.md": "---\ndescription: x\n---\n"}), "no name"),
    (_of({"SKILL.md": DOCUMENT.replace("rain", "Rain!", 1)}), "lower-case"),
    (_of({"SKILL.md": DOCUMENT.replace("rain", "snow", 1)}), "its folder is"),
    (_of({"SKILL.md": DOCUMENT.replace("Buys rain.", "")}), "no description"),
    (_of({"SKILL.md": DOCUMENT.replace("Buys rain.", "x" * 1_025)}), "1025 letters"),
    (_of({"SKILL.md": DOCUMENT.replace("  version: 1.0.0\n", "")}), "no version"),
    (_of({"run.py": "def (:\n"}), "run.py: line 1"),
    (_of({"other.py": ""}), "several scripts"),
    (_of({"clawhub.json": "{"}), "clawhub.json"),
    (_of({"clawhub.json": '{"automaton": {"entrypoint": "gone.py"}}'}), "missing"),
    (_of({"clawhub.json": '{"automaton": {"entrypoint": "../../x.py"}}'}), "not in the skill"),
    (_with_link, "is a link"),
    (_folder_link, "is a link"),
    (_pipe, "not a plain file"),
    (_zip_of("../../evil.py"), "leads out"),
    (_zip_of("/etc/evil.py"), "leads out"),
    (_zip_of("a\\..\\evil.py"), "leads out"),
    (_zip_of("c:evil.py"), "leads out"),
    (_tar_with(tarfile.SYMTYPE), "link or device"),
    (_tar_with(tarfile.LNKTYPE), "link or device"),
    (_tar_with(tarfile.CHRTYPE), "link or device"),
    (_bomb, "larger than"),
    (_many, "more than 200 files"),
    (_torn, "damaged"),
    (_text, "neither a folder nor"),
    (lambda where: where / "nowhere", "is not there"),
]


@pytest.mark.parametrize(("make", "why"), BAD, ids=[why for _, why in BAD])
def test_what_is_refused_is_refused_with_the_reason_and_leaves_nothing(
    tmp_path: Path, make: Callable[[Path], Path], why: str
) -> None:
    (tmp_path / "from").mkdir()
    source, into = make(tmp_path / "from"), tmp_path / "in"
    with pytest.raises(SkillRefusedError, match=why):
        install(source, into)
    assert nothing(into)
    assert not (tmp_path / "evil.py").exists()


@pytest.mark.slow
def test_files_that_are_too_large_only_together_are_refused(tmp_path: Path) -> None:
    parts = {f"part{count}.txt": "x" * 1_000_000 for count in range(6)}
    source, into = folder(tmp_path / "from", parts), tmp_path / "in"
    packed = tmp_path / "rain.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in source.iterdir():
            archive.write(path, f"rain/{path.name}")
    for given in (source, packed):
        with pytest.raises(SkillRefusedError, match="larger than"):
            install(given, into)
        assert nothing(into)
    for name in ("part0.txt", "part1.txt"):
        (source / name).unlink()
    assert install(source, into).slug == "rain"


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    source, into = folder(tmp_path), tmp_path / "in"
    with pytest.raises(SkillRefusedError, match="already"):
        install(source, into, ["rain"])
    install(source, into)
    (into / "rain" / "mine.txt").write_text("kept")
    with pytest.raises(SkillRefusedError, match="already"):
        install(source, into)
    assert (into / "rain" / "mine.txt").read_text() == "kept"
    assert [one.name for one in into.iterdir()] == ["rain"]


def test_what_a_killed_installation_left_is_no_skill_and_goes(tmp_path: Path) -> None:
    half = tmp_path / f"{installing.STAGING}abc" / "rain"
    half.mkdir(parents=True)
    (half / "SKILL.md").write_text(DOCUMENT)
    assert installed([tmp_path]) == []
    forget_halves(tmp_path)
    assert nothing(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a file")
    with pytest.raises(SkillRefusedError, match="cannot be written"):
        install(folder(tmp_path), tmp_path / "in")


def test_a_new_skill_is_whole(tmp_path: Path) -> None:
    made = new_skill("my-idea", tmp_path)
    assert "below one in five" in read_package(made).description
    assert "below one in five" in (made / "run.py").read_text("utf-8")
    assert problems_of(made) == []
    assert install(made, tmp_path / "in").slug == "my-idea"
    for slug in ("My idea", "../x", ""):
        with pytest.raises(SkillRefusedError):
            new_skill(slug, tmp_path)
    with pytest.raises(SkillRefusedError, match="cannot be written"):
        new_skill("my-idea", tmp_path)


@pytest.mark.parametrize("path", sorted(BUNDLED.iterdir()), ids=lambda path: path.name)
def test_a_ready_made_skill_is_whole_short_and_honest(path: Path) -> None:
    assert problems_of(path) == []
    assert read_package(path).metadata["author"]
    script = entry_script(path).read_text(encoding="utf-8")
    assert len(script.splitlines()) < 100
    if path.name != "misbehaving":
        assert "Why it might be wrong" in (path / "SKILL.md").read_text(encoding="utf-8")
        for word in ("edge", "confidence", "probability", "signal_source", "reasoning="):
            assert word in script
        assert "httpx" not in script


def _header(name: str, kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_without_end_is_refused(tmp_path: Path, kind: bytes) -> None:
    source = tmp_path / "bad.tar.gz"
    with gzip.open(source, "wb", compresslevel=1) as file:
        file.write(_header("x", kind, 800_000_000))
        for _ in range(9):
            file.write(b"a" * 1_000_000)
    with pytest.raises(SkillRefusedError, match="larger"):
        install(source, tmp_path / "in")
    assert nothing(tmp_path / "in")


def test_folders_without_end_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "bad.tar"
    source.write_bytes(_header("folder", tarfile.DIRTYPE, 0) * 500 + b"\0" * 1024)
    with pytest.raises(SkillRefusedError, match="more than"):
        install(source, tmp_path / "in")


@pytest.mark.parametrize("place", [20, 40, 60])
def test_a_damaged_archive_is_refused(tmp_path: Path, place: int) -> None:
    source = tmp_path / "bad.tgz"
    packed = bytearray(gzip.compress(_header("run.py", tarfile.REGTYPE, 9) + b"x" * 2048))
    packed[place : place + 8] = b"\xff" * 8
    source.write_bytes(packed)
    with pytest.raises(SkillRefusedError):
        install(source, tmp_path / "in")


@pytest.mark.parametrize(
    "named", ["run\\u0000.py", "\\ud800.py", "n" * 5_000], ids=["nul", "surrogate", "long"]
)
def test_a_bad_entry_script_takes_down_nothing(tmp_path: Path, named: str) -> None:
    manifest = f'{{"automaton": {{"entrypoint": "{named}"}}}}'
    bad = folder(tmp_path, {"clawhub.json": manifest})
    text = DOCUMENT.replace("rain", "snow")
    folder(tmp_path, {"SKILL.md": text}, name="snow")
    assert "snow" in [one.slug for one in installed((tmp_path,))]
    assert "entry script" in problems_of(bad)[0]


def test_loops_of_links_are_passed_over(tmp_path: Path) -> None:
    folder(tmp_path)
    Path(tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert [one.slug for one in installed((tmp_path,))] == ["rain"]


def test_controls_and_long_versions_are_problems(tmp_path: Path) -> None:
    text = DOCUMENT.replace("Buys rain.", r'"Buys \x1b]0;owned\x07rain."').replace(
        "1.0.0", "1" * 99
    )
    found = problems_of(folder(tmp_path, {"SKILL.md": text}))
    assert any("control characters" in one for one in found)
    assert any("version has 99" in one for one in found)


def test_a_script_that_is_a_pipe_is_a_problem(tmp_path: Path) -> None:
    path = folder(tmp_path)
    (path / "run.py").unlink()
    os.mkfifo(path / "run.py")
    assert problems_of(path)
    (path / "clawhub.json").write_text('{"automaton": {"entrypoint": "run.py"}}')
    assert problems_of(path)


def test_the_listing_sends_no_escapes_to_the_terminal(tmp_path: Path) -> None:
    text = DOCUMENT.replace("Buys rain.", r'"Buys \x1b]0;owned\x07rain."')
    text = text.replace("1.0.0", r'"\x1b[2J1"')
    folder(tmp_path / "skills", {"SKILL.md": text})
    said: list[str] = []
    list_skills(tmp_path, said.append)
    assert any(one.startswith("rain") for one in said)
    assert not any("\x1b" in one or "owned" in one for one in said)


def test_a_name_that_no_file_can_have_is_refused_in_plain_words(tmp_path: Path) -> None:
    for name in ("n" * 5_000, "a\0b"):
        with pytest.raises(SkillsError):
            run_skill(tmp_path, name, ())


def test_a_script_is_parsed_again_where_the_limit_of_recursion_has_just_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    parse = ast.parse

    def fail_once(text: str, name: str) -> ast.Module:
        tried.append(name)
        if len(tried) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=98, after=77)")
        return parse(text, name)

    monkeypatch.setattr(checking.ast, "parse", fail_once)
    path = folder(tmp_path)
    assert problems_of(path) == []
    assert len(tried) == 2


WHOLE_DOCUMENT = "---\nname: rain\ndescription: Buys rain.\nmetadata:\n  version: 1.0.0\n---\n"


def archive(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, WHOLE_DOCUMENT)
    return path


def test_an_archive_without_a_document_is_refused(tmp_path: Path) -> None:
    for names in (("run.py",), ("run.py", "other/SKILL.md")):
        source = archive(tmp_path / f"{len(names)}.zip", *names)
        with pytest.raises(SkillRefusedError, match=r"no SKILL\.md at the top of the archive"):
            install(source, tmp_path / "in")
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize(("files", "is_taken"), [(200, True), (201, False)])
def test_a_skill_has_so_many_files_and_no_more(
    tmp_path: Path, files: int, *, is_taken: bool
) -> None:
    path = tmp_path / "rain.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("SKILL.md", WHOLE_DOCUMENT)
        made.writestr("run.py", "print()")
        for number in range(files - 2):
            made.writestr(f"{number}.txt", f"of {number}")
    if not is_taken:
        with pytest.raises(SkillRefusedError, match="more than 200 files"):
            install(path, tmp_path / "in")
        return
    folder_of = install(path, tmp_path / "in")
    assert (tmp_path / "in" / folder_of.slug / "7.txt").read_text() == "of 7"


def test_an_archive_of_one_file_needs_its_document(tmp_path: Path) -> None:
    source = tmp_path / "some.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("run.py", SCRIPT)
    with pytest.raises(SkillRefusedError, match=r"no SKILL\.md at the top"):
        install(source, tmp_path / "in")
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("rain/SKILL.md", DOCUMENT)
        archive.writestr("rain/run.py", SCRIPT)
        archive.writestr("snow/SKILL.md", DOCUMENT)
    with pytest.raises(SkillRefusedError, match=r"no SKILL\.md at the top"):
        install(source, tmp_path / "in")
    assert nothing(tmp_path / "in")


def test_halves_that_cannot_be_removed_stop_nobody(tmp_path: Path) -> None:
    (tmp_path / f"{installing.STAGING}1").write_text("a file, and no folder")
    (tmp_path / f"{installing.STAGING}2").mkdir()
    (tmp_path / "rain").mkdir()
    forget_halves(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == [f"{installing.STAGING}1", "rain"]
