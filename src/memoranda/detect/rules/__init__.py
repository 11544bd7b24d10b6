"""The rules as data: what each format looks like, who says so, and what is and is not one."""
