package redis

import (
	"strconv"
	"testing"
)

func BenchmarkSet(b *testing.B) {
	s := NewStore()
	p := s.NewPeer()
	set := []string{"SET", "lock", "value", "NX", "PX", "10000"}
	now := int64(1)
	for b.Loop() {
		now += 11_000 * ms // each finds the last one expired
		s.Execute(now, p, set)
	}
	b.ReportAllocs()
}

func BenchmarkSetRefused(b *testing.B) {
	s := NewStore()
	p := s.NewPeer()
	set := []string{"SET", "lock", "value", "NX", "PX", "1000000000"}
	now := int64(1)
	for b.Loop() {
		now++
		s.Execute(now, p, set)
	}
	b.ReportAllocs()
}

func BenchmarkSetAndCompareAndDelete(b *testing.B) {
	for _, luaOnly := range []bool{false, true} {
		b.Run("lua="+strconv.FormatBool(luaOnly), func(b *testing.B) {
			s := NewStore()
			s.LuaOnly = luaOnly
			p := s.NewPeer()
			set := []string{"SET", "lock", "value", "NX", "PX", "10000"}
			release := []string{"EVAL", CompareAndDelete, "1", "lock", "value"}
			now := int64(1)
			for b.Loop() {
				now += ms
				s.Execute(now, p, set)
				if string(s.Execute(now, p, release)) != ":1\r\n" {
					b.Fatal("not released")
				}
			}
			b.ReportAllocs()
		})
	}
}

func BenchmarkCompareAndDeleteOfAnothersLock(b *testing.B) {
	for _, luaOnly := range []bool{false, true} {
		b.Run("lua="+strconv.FormatBool(luaOnly), func(b *testing.B) {
			s := NewStore()
			s.LuaOnly = luaOnly
			p := s.NewPeer()
			s.Execute(1, p, []string{"SET", "lock", "another", "NX", "PX", "1000000000"})
			release := []string{"EVAL", CompareAndDelete, "1", "lock", "value"}
			now := int64(1)
			for b.Loop() {
				now++
				s.Execute(now, p, release)
			}
			b.ReportAllocs()
		})
	}
}

func BenchmarkReset(b *testing.B) {
	s := NewStore()
	set := []string{"SET", "lock", "value", "NX", "PX", "10000"}
	incr := []string{"INCR", "counter"}
	for b.Loop() {
		p := s.NewPeer()
		s.Execute(1, p, set)
		s.Execute(1, p, incr)
		s.Reset()
	}
	b.ReportAllocs()
}

func BenchmarkNewStore(b *testing.B) {
	for b.Loop() {
		NewStore()
	}
	b.ReportAllocs()
}
