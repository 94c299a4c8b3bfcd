"""What a page of docs/ says that somebody types, and what it prints."""

from daemon_under_test import SOURCE


def transcript(page):
    """(command, lines that it prints) of the page's blocks that begin with a prompt."""
    steps = []
    for line in (SOURCE / "docs" / page).read_text().splitlines():
        if line.startswith("    $ heddle "):
            steps.append((line.removeprefix("    $ heddle "), []))
        elif line.startswith("    ") and steps and steps[-1][1] is not None:
            steps[-1][1].append(line[4:])
        elif steps:
            steps.append(("", None))
    return [(command, printed) for command, printed in steps if command]
