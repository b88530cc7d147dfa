package svg

import "github.com/locksim/locksim/reports/internal/timeline"

// Ink is a colour with a meaning: one for light surroundings, one for dark ones. Class names it in the style sheet; no
// two inks of a picture may share one.
type Ink struct{ Class, Light, Dark string }

// The inks of what all pictures have. Text in [Words], [Quiet], [Amber], [Red] and [Green] has a contrast of at least
// 4.5 to 1 on [Paper], on [Shade] and on the washes.
var (
	Paper = Ink{"paper", "#ffffff", "#0d1117"}
	Shade = Ink{"shade", "#f6f8fa", "#161b22"} // sets something apart from the paper
	Words = Ink{"words", "#1f2328", "#e6edf3"}
	Quiet = Ink{"quiet", "#59636e", "#9198a1"}
	Rule  = Ink{"rule", "#d8dee4", "#30363d"}  // lines that help the eye
	Solid = Ink{"solid", "#8c959f", "#6e7681"} // lines that mean something

	Amber     = Ink{"amber", "#845306", "#e3b341"}
	amberWash = Ink{"amber-wash", "#ffefc2", "#3b2e0a"}
	amberTint = Ink{"amber-tint", "#f9d684", "#6d5410"}
	amberFill = Ink{"amber-fill", "#e69f00", "#bb8009"}
	Red       = Ink{"red", "#c4162a", "#ff7b72"}
	redWash   = Ink{"red-wash", "#ffebe9", "#3d1418"}
	Green     = Ink{"green", "#13702f", "#3fb950"}
	GreenWash = Ink{"green-wash", "#e3f8e8", "#10291a"}
)

// clientHue is the colour of a client: for its letters and lines, for what is filled, and for a wash of that.
type clientHue struct{ Line, Fill, Wash Ink }

// hues are colours that people tell apart who see colours differently (Okabe and Ito, "Color Universal Design",
// 2002): blue, reddish purple, sky blue and black. Orange, vermillion and bluish green are too near to what amber, red
// and green mean.
var hues = [...]clientHue{
	{
		Line: Ink{"client-1", "#0062a0", "#6cb6ff"},
		Fill: Ink{"client-1-fill", "#0072b2", "#3d8fd1"},
		Wash: Ink{"client-1-wash", "#dcebf6", "#13273a"},
	},
	{
		Line: Ink{"client-2", "#99346f", "#e7a7cc"},
		Fill: Ink{"client-2-fill", "#cc79a7", "#b8668f"},
		Wash: Ink{"client-2-wash", "#f8e6f0", "#33192a"},
	},
	{
		Line: Ink{"client-3", "#116a99", "#9ad4f5"},
		Fill: Ink{"client-3-fill", "#56b4e9", "#9fdcff"},
		Wash: Ink{"client-3-wash", "#e1f3fc", "#0f2c3d"},
	},
	{
		Line: Ink{"client-4", "#1f2328", "#e6edf3"},
		Fill: Ink{"client-4-fill", "#57606a", "#8b949e"},
		Wash: Ink{"client-4-wash", "#eaeef2", "#21262d"},
	},
}

// nobodys is the hue of what is no client's that the picture knows.
var nobodys = clientHue{Quiet, Solid, Shade}

// hueOf returns the hue of a client's tone; a quiet one for other tones.
func hueOf(t timeline.Tone) clientHue {
	switch t {
	case timeline.ToneClient1:
		return hues[0]
	case timeline.ToneClient2:
		return hues[1]
	case timeline.ToneClient3:
		return hues[2]
	case timeline.ToneClient4:
		return hues[3]
	default:
		return nobodys
	}
}

// look is what a tone makes of words, of the ground on which they stand, and of the sign before them.
type look struct {
	words, wash Ink
	icon        Icon
}

var looks = map[timeline.Tone]look{
	timeline.ToneFaint:   {Quiet, Shade, Circle},
	timeline.ToneAmber:   {Amber, amberWash, Cross},
	timeline.ToneRed:     {Red, redWash, Cross},
	timeline.ToneGreen:   {Green, GreenWash, Check},
	timeline.ToneDiffers: {Words, Shade, Differs},
	timeline.ToneNear:    {Amber, amberWash, Near},
}

func lookOf(t timeline.Tone) look {
	if l, ok := looks[t]; ok {
		return l
	}
	l := look{Words, Shade, Circle}
	if hue := hueOf(t); hue != nobodys {
		l.words = hue.Line
	}
	return l
}

// inkOf returns the ink for words of a tone.
func inkOf(t timeline.Tone) Ink { return lookOf(t).words }
