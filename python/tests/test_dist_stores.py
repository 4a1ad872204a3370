"""Objects of stores: moto answers as S3 does, a server of our own as GCS and Azure do."""

import bz2
import gzip
import logging
import os
import urllib.request

import fyke
import fyke.dist
import pytest
from conftest import library, rows_of
from fyke.dist import __main__ as command
from fyke.dist import local, objects, stores
from served import serving

PATTERNS = [b"she", b"hers", b"he", b"e\n", b"hers and"]
LONGEST = max(map(len, PATTERNS))
LARGE = 2 * stores.PIECE + 1000


def text(size, places):
    """Zeros, and matches at some places."""
    data = bytearray(size)
    for at in places:
        data[at : at + 8] = b"hers and"
    return bytes(data)


CONTENTS = {
    "a.txt": b"ushers and hers\nshe",
    "empty": b"",
    "large": text(LARGE, [0, stores.PIECE - 3, stores.PIECE, 2 * stores.PIECE - 1, LARGE - 8]),
    "sub/b.bin": text(20_000, [0, 4090, 4096, 8190, 19_992]),
    "sub/c.txt.gz": gzip.compress(b"she\n" * 30),
    "sub/d %20é.bz2": bz2.compress(b"hers and she\n" * 9),
    # A folder's name is before those of its objects, as bytes are.
    "sub-2": b"he",
}


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def moto():
    """The address of a server of S3."""
    library("moto")
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture(scope="module", params=["s3", "gs", "az"])
def scheme(request, server):
    """The environment says where the stores are."""
    library("pyarrow")
    library("obstore")
    settings = {
        "s3": lambda: {
            "AWS_ENDPOINT_URL": request.getfixturevalue("moto"),
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "name",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        },
        "gs": lambda: {
            "GOOGLE_BASE_URL": server.uri(""),
            "GOOGLE_ALLOW_HTTP": "true",
            "GOOGLE_BEARER_TOKEN": "secret",
        },
        "az": lambda: {
            "AZURE_STORAGE_ENDPOINT": server.uri(""),
            "AZURE_ALLOW_HTTP": "true",
            "AZURE_STORAGE_ACCOUNT_NAME": "name",
            "AZURE_STORAGE_ACCOUNT_KEY": "c2VjcmV0",
        },
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings[request.param]().items():
            patch.setenv(name, value)
        yield request.param


@pytest.fixture(scope="module")
def put(scheme, server):
    """A function that makes an object of a bucket, however large."""
    if scheme == "s3":
        return lambda name, data: objects.write_all(f"s3://bucket/{name}", data)
    return lambda name, data: server.contents.update({f"/bucket/{name}": data})


@pytest.fixture(scope="module")
def bucket(scheme, put):
    """A bucket with all objects."""
    if scheme == "s3":
        make = urllib.request.Request(f"{os.environ['AWS_ENDPOINT_URL']}/bucket", method="PUT")
        urllib.request.urlopen(make).close()
    for name, data in CONTENTS.items():
        put(f"data/{name}", data)
    return f"{scheme}://bucket"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same objects as files."""
    made = tmp_path_factory.mktemp("data")
    for name, data in CONTENTS.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_bytes(data)
    return made


def scan(uri, database, size=64 << 20, workers=1):
    return rows_of(local.run(fyke.dist.make_plan([uri], database, LONGEST, size), workers))


@pytest.mark.parametrize(("name", "size"), [("a.txt", 1), ("sub", 4096), ("", 64 << 20)])
def test_rows_are_those_of_files(bucket, folder, database, name, size):
    want = [
        (path.replace(str(folder), f"{bucket}/data"), offset, pattern)
        for path, offset, pattern in scan(str(folder / name), database, size)
    ]
    assert len(want) > 4
    assert scan(f"{bucket}/data/{name}", database, size) == want


def test_processes_read_them(bucket, database):
    uri = f"{bucket}/data/sub"
    assert scan(uri, database, 5000, workers=2) == scan(uri, database)


def test_folders_are_listed_in_order(bucket):
    names = [f"{bucket}/data/{name}" for name in sorted(CONTENTS)]
    assert [item.uri for item in objects.list_objects(f"{bucket}/data")] == names
    assert [item.uri for item in objects.list_objects(f"{bucket}/data/")] == names
    listed = list(objects.list_objects(f"{bucket}/data/sub"))
    assert [item.uri for item in listed] == [name for name in names if "/sub/" in name]
    # A listing says of an object what looking at it says.
    assert listed == [objects.look(item.uri) for item in listed]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_object_that_is_replaced_is_named(bucket, put, database, pack):
    name = "changing.gz" if pack is gzip.compress else "changing"
    uri = f"{bucket}/{name}"
    before, after = pack(b"ushers"), pack(b"rushes")
    put(name, before)
    plan = fyke.dist.make_plan([uri], database, LONGEST, 2)
    assert len(before) == len(after)
    put(name, after)
    with pytest.raises(fyke.dist.ChangedError, match=f"{uri}: it changed since it was listed"):
        rows_of(local.run(plan, 1))


def test_an_object_that_is_replaced_while_it_is_read_is_named(bucket, put):
    size = (stores.AHEAD + 4) * stores.PIECE
    put("long", bytes(size))
    (item,) = objects.list_objects(f"{bucket}/long")
    with objects.open_range(item, 0, size) as reader:
        assert reader.read(10) == bytes(10)
        put("long", b"\x01" * size)
        with pytest.raises(fyke.dist.ChangedError, match="long: it changed"):
            while reader.read(stores.PIECE):
                pass


def test_a_missing_object_is_named(bucket, database):
    with pytest.raises(FileNotFoundError, match="absent: there is no such object or folder"):
        scan(f"{bucket}/absent", database)
    with pytest.raises(FileNotFoundError, match="absent.fyke: there is no such object"):
        objects.read_all(f"{bucket}/absent.fyke")


def test_an_unreadable_object_is_named(bucket, put, database, server):
    put("bad/a.gz", b"no gzip")
    with pytest.raises(OSError, match=f"{bucket}/bad/a.gz"):
        scan(f"{bucket}/bad", database)
    if bucket.startswith("s3:"):
        # moto checks no credentials.
        return
    server.refused = {"/bucket/bad/a.gz"}
    with pytest.raises(PermissionError, match=r"bad/a.gz: .*403.*: check the name, and [A-Z]+_\*"):
        scan(f"{bucket}/bad", database)


def test_a_missing_bucket_is_named(moto):
    library("obstore")
    settings = {"endpoint": moto, "access_key_id": "a", "secret_access_key": "b"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(f"AWS_{name.upper()}", value)
        patch.setenv("AWS_ALLOW_HTTP", "true")
        with pytest.raises(OSError, match=r"s3://none/a: .*NoSuchBucket.*check the name, and AWS_"):
            list(objects.list_objects("s3://none/a"))


def test_the_command_takes_a_database_and_objects(bucket, database, tmp_path, capfd):
    import pyarrow.parquet as parquet

    with open(database, "rb") as file:
        objects.write_all(f"{bucket}/p.fyke", file.read())
    out = tmp_path / "out.parquet"
    given = ["--database", f"{bucket}/p.fyke", f"{bucket}/data/sub", "-j", "2", "-o", str(out)]
    assert command.main(["scan", *given]) == 0
    assert rows_of([parquet.read_table(out)]) == scan(f"{bucket}/data/sub", database)


def test_obstore_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(ImportError, match="s3://other: .* need obstore") as caught:
        objects.look("s3://other/a")
    assert caught.value.name == "obstore"


def test_a_query_is_refused():
    with pytest.raises(ValueError, match=r"http://host/a\?b=c: .* have no query"):
        objects.look("http://host/a?b=c")
