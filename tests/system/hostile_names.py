"""A fabric whose nodes call themselves what nobody should, as a file for the simulator."""

import subprocess

from daemon_under_test import HEDDLE

NAMES = {
    b"sw-0-0": b"<img src=x onerror=window.hacked=1>",
    b"sw-0-1": b"it's \\\\ & <b>bold</b> <script>window.hacked=1</script>",
    b"sw-0-2": b"\x1b[31mred\x1b]0;title\x07 \x9b2J",
    b"sw-1-0": b"x" * 62 + b"\xc3",
    b"sw-1-1": "w\u202eesrever\u2028 ü €".encode(),
    b"sw-1-2": b"{{7*7}} ${7} %s %n [*] | `id` $(id)",
}


def write(path):
    """The file; a node's name is the text between the first pair of quotes after '#'."""
    text = subprocess.run([HEDDLE, "fabric", "generate", "torus:3x3,hosts=1", "--lids"], capture_output=True, check=True).stdout
    for plain, hostile in NAMES.items():
        assert b'"' + plain + b'"' in text, plain
        text = text.replace(b'"' + plain + b'"', b'"' + hostile + b'"')
    path.write_bytes(text)
    return path
