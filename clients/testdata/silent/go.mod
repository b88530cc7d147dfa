module example.test/silent

go 1.26.0
