package generate

import "maps"

// lookalikes are contents that a careless comparison takes for each other: one that
// joins names and values, sorts values without their names, counts only what is
// text, or forgets what is empty.
var lookalikes = [][2]content{
	{{"a": "bc"}, {"ab": "c"}},
	{{"a": "b.c"}, {"a.b": "c"}},
	{{"a": "dc"}, {"ad": "c"}}, // d marks data in KICK's own digest
	{{"a": "1", "b": "2"}, {"a": "1b2"}},
	{{"a": "1", "b": "2"}, {"a": "1bd2"}},
	{{"a": "1", "b": "2"}, {"a": "1\nb=2"}},
	{{"a": "1", "b": "2"}, {"a": "1\x00b\x002"}},
	{{"a": "alpha-one", "b": "beta-one"}, {"a": "beta-one", "b": "alpha-one"}},
	{{"a": "alpha-one", "b": ""}, {"a": "alpha-one"}},
	{{"a": "alpha-one"}, {"a": "alpha-one\n"}},
	{{"a": "alpha-one"}, {"a": "Alpha-One"}},
	{{"a": "alpha-one", "blob": "\x00\xff\xfe\x01"}, {"a": "alpha-one", "blob": "\x00\xff\xfe\x02"}},
	{{"a": "alpha-one", "blob": "\x00\xff\xfe\x01"}, {"a": "alpha-one"}},
	{{"blob": "\x00\xff\xfe"}, {"blob": "\x00\xff\xfe\x00"}},
}

// lookalike turns a content into another one that is easily taken for it.
func (s *story) lookalike() {
	k := s.someSource()
	pair := pick(s.maker, "lookalikes", lookalikes)
	if s.maybe("turned round") {
		pair[0], pair[1] = pair[1], pair[0]
	}
	s.change(k, pair[0])
	s.pause()
	s.change(k, pair[1])
}

// twin is a lookalike of what a source holds, if there is one.
func (s *story) twin(k *sourceState) (content, bool) {
	for _, pair := range lookalikes {
		for i := range pair {
			if maps.Equal(k.content, pair[i]) {
				return pair[1-i], s.maybe("lookalike")
			}
		}
	}
	return nil, false
}
