package locks

// gcsGeneration is gcs with the generation in each condition, too.
func gcsGeneration() Algorithm {
	a := gcs()
	a.Name, a.Title, a.Source = "gcs-generation", "gcs that compares the object's generation, too", a.Source+", with if_generation_match"
	a.Status, a.New = Usable, newGCS(true)
	return a
}
