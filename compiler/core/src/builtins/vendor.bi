# Functions of vendors' extensions.
