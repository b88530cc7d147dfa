module plain.test

go 1.26.0
