"""What the files of a file group are taken for: slices by completion time, and the layouts beside."""
