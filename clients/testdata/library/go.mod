module example.test/library

go 1.26.0
