#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Draws a terminal's screen as SVG: lines of text with colours as SGR sequences (`tmux capture-pane -pe`) on standard input.
#
#     tmux capture-pane -pe | examples/screen-svg.pl >screen.svg

use v5.32;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my ($width, $height, $size) = (8.4, 18, 14);	# of a character, of a line, of the letters
my ($paper, $ink) = ('#1c1c1c', '#d8d8d8');
# The 16 colours, as readers who do not see red or green tell them apart (Okabe and Ito), on a dark background.
my @basic = ('#000000', '#d55e00', '#009e73', '#e69f00', '#0072b2', '#cc79a7', '#56b4e9', '#cccccc',
	'#777777', '#ff8c4a', '#2fcf9f', '#f0e442', '#4ca6e8', '#e8a4c8', '#8fd0f5', '#ffffff');

sub color
{
	my ($nr) = @_;
	my @steps = (0, 95, 135, 175, 215, 255);

	return $basic[$nr] if $nr < 16;
	return sprintf '#%02x%02x%02x', (8 + 10 * ($nr - 232)) x 3 if $nr >= 232;
	$nr -= 16;
	return sprintf '#%02x%02x%02x', $steps[$nr / 36], $steps[$nr / 6 % 6], $steps[$nr % 6];
}

# Applies the numbers of one sequence to a style.
sub apply
{
	my ($style, @numbers) = @_;

	@numbers = (0) unless @numbers;
	while (defined(my $n = shift @numbers)) {
		if ($n == 0) { %$style = () }
		elsif ($n == 1) { $style->{bold} = 1 }
		elsif ($n == 2) { $style->{dim} = 1 }
		elsif ($n == 7) { $style->{reverse} = 1 }
		elsif ($n == 22) { delete @$style{qw(bold dim)} }
		elsif ($n == 27) { delete $style->{reverse} }
		elsif ($n == 39) { delete $style->{ink} }
		elsif ($n == 49) { delete $style->{paper} }
		elsif ($n == 38 || $n == 48) { shift @numbers; $style->{$n == 38 ? 'ink' : 'paper'} = color(shift @numbers) }
		elsif ($n >= 30 && $n <= 37) { $style->{ink} = color($n - 30) }
		elsif ($n >= 40 && $n <= 47) { $style->{paper} = color($n - 40) }
		elsif ($n >= 90 && $n <= 97) { $style->{ink} = color($n - 82) }
	}
}

my (@boxes, @texts, %style);
my ($row, $columns) = (0, 0);

sub put
{
	my ($column, $text) = @_;
	my $len = length $text;
	my ($x, $y) = (10 + $column * $width, 10 + $row * $height);
	my ($front, $back) = ($style{ink} // $ink, $style{paper});

	($front, $back) = ($back // $paper, $front) if $style{reverse};
	push @boxes, sprintf '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>', $x, $y, $len * $width, $height,
		$back if $back;
	return if $text =~ /^ *$/;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/ /\x{a0}/g;
	push @texts, sprintf '<text x="%.1f" y="%d" textLength="%.1f" fill="%s"%s%s>%s</text>', $x, $y + 14, $len * $width,
		$front, $style{bold} ? ' font-weight="bold"' : '', $style{dim} ? ' opacity="0.6"' : '', $text;
}

while (my $line = <STDIN>) {
	my $column = 0;

	chomp $line;
	while ($line =~ /\G(?:\e\[([0-9;]*)m|\e\(.|[\x0e\x0f]|([^\e\x0e\x0f]+))/g) {
		if (defined $2) {
			put($column, $2);
			$column += length $2;
		} elsif (defined $1) {
			apply(\%style, split /;/, $1);
		}
	}
	$columns = $column if $column > $columns;
	$row++;
}

my ($w, $h) = (20 + $columns * $width, 20 + $row * $height);
printf '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d">' . "\n", $w, $h, $w, $h;
say qq(<rect width="100%" height="100%" rx="8" fill="$paper"/>);
say for @boxes;
say qq(<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="$size">);
say for @texts;
say '</g>';
say '</svg>';
