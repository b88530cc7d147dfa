package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/locksim/locksim/reports"
)

// The size of a slide in pixels, and how long a program may take to draw it.
const (
	pixelsWide, pixelsHigh = 1920, 1080
	drawingTime            = time.Minute
)

// painters are the programs that draw SVG as PNG, the first of which that is installed is used.
var painters = []struct {
	name  string
	paint func(ctx context.Context, program string, svg []byte) ([]byte, error)
}{
	{"rsvg-convert", paintByPipe}, {"chromium", paintByBrowser}, {"chromium-browser", paintByBrowser}, {"google-chrome", paintByBrowser},
}

// errNoPainter says what there has to be for PNG.
var errNoPainter = errors.New("--format png needs the program rsvg-convert (librsvg), chromium or google-chrome; --format slide writes the same picture as SVG, without any")

// paint writes a slide as PNG.
func paint(w io.Writer, s *reports.Schedule, lanes []string) error {
	var svg bytes.Buffer
	if err := reports.Slide(&svg, s, lanes); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), drawingTime)
	defer cancel()
	for _, p := range painters {
		program, err := exec.LookPath(p.name)
		if err != nil {
			continue
		}
		picture, err := p.paint(ctx, program, svg.Bytes())
		if err != nil {
			return fmt.Errorf("%s cannot draw the picture: %w; --format slide writes it as SVG", p.name, err)
		}
		_, err = w.Write(picture)
		return err
	}
	return errNoPainter
}

func paintByPipe(ctx context.Context, program string, svg []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, "-w", strconv.Itoa(pixelsWide), "-h", strconv.Itoa(pixelsHigh))
	cmd.Stdin = bytes.NewReader(svg)
	return cmd.Output()
}

// paintByBrowser has a browser take a photograph of a page with the picture alone. Its sandbox cannot be had as root, nor in many
// containers; the page is the program's own, and has no script.
func paintByBrowser(ctx context.Context, program string, svg []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "locksim-png-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	page, picture := filepath.Join(dir, "slide.html"), filepath.Join(dir, "slide.png")
	text := "<!doctype html><meta charset=utf-8><style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>" + string(svg)
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+filepath.Join(dir, "profile"),
		fmt.Sprintf("--window-size=%d,%d", pixelsWide, pixelsHigh), "--screenshot="+picture, page)
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(picture)
}
