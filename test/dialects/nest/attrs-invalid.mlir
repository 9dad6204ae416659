// Invalid maps, guards, layouts, schedules and machines.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected each name once and in sorted order, got 'row' after 'row'}}
func.func private @map_name_twice() attributes {x = #nest.map<row = i, row = j>}

// -----

// expected-error @below {{expected '='}}
func.func private @map_without_place() attributes {x = #nest.map<row>}

// -----

// expected-error @below {{expected a condition of the form `e >= 0` or `e == 0`}}
func.func private @guard_bound() attributes {x = #nest.guard<[row ge 1]>}

// -----

// expected-error @below {{expected '>'}}
func.func private @guard_less() attributes {x = #nest.guard<[row lt 0]>}

// -----

// expected-error @below {{expected a positive block and a border of at least 0 for 'row'}}
func.func private @layout_block() attributes {x = #nest.layout<[row floordiv 0]>}

// -----

// expected-error @below {{expected an alignment that is a power of two, got 48}}
func.func private @layout_alignment() attributes {x = #nest.layout<[row], align 48>}

// -----

// expected-error @below {{expected 'align', 'zero_padded' or 'swizzle', got 'padded'}}
func.func private @layout_word() attributes {x = #nest.layout<[row], padded>}

// -----

// expected-error @below {{expected 'by'}}
func.func private @schedule_step() attributes {x = #nest.schedule<[loop row]>}

// -----

// expected-error @below {{expected 'stage'}}
func.func private @schedule_stage() attributes {x = #nest.schedule<[loop row by 1], [pack 0 at 0 in #nest.layout<[row]>]>}

// -----

// expected-error @below {{expected integer value}}
func.func private @expression() attributes {x = #nest.map<row = i floordiv j>}
