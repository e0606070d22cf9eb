"""Fifteen lines of PyGithub: list, find, edit; arguments: API URL, repository, number, marker."""

import os
import sys
from typing import Any

from github import Auth, Github

url, slug, number, marker = sys.argv[1:5]
tuned: dict[str, Any] = {
    "per_page": 100,
    "seconds_between_requests": None,
    "seconds_between_writes": None,
}
options = tuned if "--tuned" in sys.argv else {}
client = Github(base_url=url, auth=Auth.Token(os.environ["GH_TOKEN"]), **options)
body = f"{marker}\n\n{sys.stdin.read()}"
issue = client.get_repo(slug).get_issue(int(number))
for comment in issue.get_comments():
    if marker in comment.body:
        comment.edit(body)
        break
else:
    issue.create_comment(body)
