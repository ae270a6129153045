"""What corrects Faust. README.md here names each correction and the behaviour it corrects."""
