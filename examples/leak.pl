#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A service of which the kernel forgets something: for each of 60 requests the test module (tests/vm/module) allocates
# buffers and entries, which are freed with the next request, and three entries more, which nobody frees. examples/leak.sh
# records it.

use strict;
use warnings;

my $door = "/proc/pfscope_objects";
open(my $file, ">", $door) or die "$door: $!\n";
sub ask { syswrite($file, "@_\n") or die "$door: $!\n" }

<STDIN>;	# until the recording has begun

for my $request (1 .. 60) {
	my $load = 1 + sin($request / 6) ** 2;

	ask("small", int(8 * $load));
	ask("large", int(3 * $load));
	ask("leak", 3);
	select(undef, undef, undef, 0.02);
	ask("free", 1000);
	ask("release", 1000);
}
