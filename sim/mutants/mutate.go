package main

import (
	"fmt"
	"go/scanner"
	"go/token"
)

// swaps are what gremlins puts in place of a token, by the name it gives the kind of
// mutation.
var swaps = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	},
	"CONDITIONALS_BOUNDARY": {
		token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS, token.LSS: token.LEQ,
	},
	"CONDITIONALS_NEGATION": {
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.GEQ: token.LSS, token.LSS: token.GEQ,
		token.GTR: token.LEQ, token.LEQ: token.GTR,
	},
	"INCREMENT_DECREMENT": {token.INC: token.DEC, token.DEC: token.INC},
	"INVERT_LOGICAL":      {token.LAND: token.LOR, token.LOR: token.LAND},
	"INVERT_NEGATIVES":    {token.SUB: token.ADD},
}

// mutation is one token that gremlins changed, and what became of it.
type mutation struct {
	File   string `json:"-"` // from the root of the module
	Type   string
	Status string
	Line   int
	Column int
	judge  string // who killed it; empty: it lives
}

// name is where the mutation is and what it does.
func (m *mutation) name() string {
	return fmt.Sprintf("%s:%d:%d %s", m.File, m.Line, m.Column, m.Type)
}

// apply makes the mutation in the text of its file.
func (m *mutation) apply(text string) (string, error) {
	files := token.NewFileSet()
	file := files.AddFile(m.File, -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, _ := s.Scan()
		if tok == token.EOF {
			return "", fmt.Errorf("%s: there is no token at that place", m.name())
		}
		if at := files.Position(pos); at.Line != m.Line || at.Column != m.Column {
			continue
		}
		other, known := swaps[m.Type][tok]
		if !known {
			return "", fmt.Errorf("%s: nothing is known to put in place of %s", m.name(), tok)
		}
		at := file.Offset(pos)
		return text[:at] + other.String() + text[at+len(tok.String()):], nil
	}
}
