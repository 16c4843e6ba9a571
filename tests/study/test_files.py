"""On which file systems a ledger may lie."""

from pathlib import Path

import pytest

from metalic.errors import LedgerError
from metalic.study import Ledger, files
from metalic.study.files import listed_type, on_network


def test_network_file_systems_are_refused_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.db"
    Ledger.writer(path, SETTINGS).close()
    assert files.mount_type(Path("/proc")) == "proc"
    for kind in ("nfs4", "cifs", "fuse.sshfs"):
        monkeypatch.setattr(files, "mount_type", lambda _, kind=kind: kind)
        with pytest.raises(LedgerError, match=f"network file system \\({kind}\\).*local disk"):
            Ledger.writer(path, None)
        with Ledger(path) as ledger:
            assert ledger.plays() == []


SETTINGS = {"family": {"name": "tiny"}, "seed": 1}

MOUNTS = r"""
22 28 0:21 / /proc rw,relatime shared:12 - proc proc rw
28 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
61 28 0:52 / /home rw,relatime shared:31 - nfs4 server:/export/home rw,vers=4.2
62 61 0:53 / /home/me/local rw - xfs /dev/sdb1 rw
63 28 0:54 / /mnt/my\040share rw - cifs //host/share rw
64 28 0:55 / /mnt/far rw master:5 - fuse.sshfs me@host: rw
65 28 0:56 / /scratch rw - lustre mds@tcp:/scratch rw
66 28 0:57 / /twice rw - nfs a:/b rw
67 28 0:58 / /twice rw - tmpfs tmpfs rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/data/a.db", "ext4"),
        ("/homework/a.db", "ext4"),
        ("/home", "nfs4"),
        ("/home/me/a.db", "nfs4"),
        ("/home/me/local/deep/a.db", "xfs"),
        ("/mnt/my share/a.db", "cifs"),
        ("/mnt/far/a.db", "fuse.sshfs"),
        ("/scratch/me", "lustre"),
        ("/twice/a.db", "tmpfs"),
    ],
)
def test_the_table_of_mounts(path: str, kind: str) -> None:
    assert listed_type(path, MOUNTS) == kind


def test_local_places_are_not_taken_for_a_network(tmp_path: Path) -> None:
    assert not on_network(tmp_path / "a.db")
    assert listed_type("/somewhere", "") == ""
