package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// swaps are what a mutant has in place of an operator: the arithmetic, comparisons,
// bounds, increments, signs and logic that gremlins and go-mutesting change, too.
var swaps = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// mutation is one operator that was changed, and what became of it.
type mutation struct {
	file     string // from the root of the module
	place    token.Position
	from, to token.Token
	judge    string // who noticed; empty: nobody
}

// name is where the mutation is and what it does.
func (m *mutation) name() string {
	return fmt.Sprintf("%s:%d:%d %s -> %s", m.file, m.place.Line, m.place.Column, m.from, m.to)
}

// apply makes the mutation in the text of its file.
func (m *mutation) apply(text string) string {
	at := m.place.Offset
	return text[:at] + m.to.String() + text[at+len(m.from.String()):]
}

// operator is the operator of a node and its place; false: the node has none that
// can be another one.
func operator(info *types.Info, n ast.Node) (op token.Token, at token.Pos, ok bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		t, basic := info.TypeOf(n).Underlying().(*types.Basic)
		joined := n.Op == token.ADD && basic && t.Info()&types.IsString != 0
		return n.Op, n.OpPos, swaps[n.Op] != nil && !joined
	case *ast.UnaryExpr:
		return n.Op, n.OpPos, n.Op == token.SUB
	case *ast.IncDecStmt:
		return n.Tok, n.TokPos, true
	}
	return 0, 0, false
}
