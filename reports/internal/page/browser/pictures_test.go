package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var pictures = flag.String("pictures", "", "the folder that pictures of all pages are written to, for people to look at")

// TestPicturesToLookAt takes a picture of every page in both themes, where somebody asks for them:
//
//	go test -run Pictures -args -pictures /tmp/pictures
func TestPicturesToLookAt(t *testing.T) {
	if *pictures == "" {
		t.Skip("nobody asks for pictures: -pictures names the folder for them")
	}
	require.NoError(t, os.MkdirAll(*pictures, 0o755))
	for _, name := range names(t) {
		for _, dark := range []bool{false, true} {
			b := open(t, played(t, name), options{dark: dark, hash: "#event=6"})
			image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			require.NoError(t, err)
			theme := map[bool]string{false: "light", true: "dark"}[dark]
			require.NoError(t, os.WriteFile(filepath.Join(*pictures, name+"."+theme+".png"), image, 0o644))
		}
	}
}
