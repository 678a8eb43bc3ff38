# SyncProbeBrowser.pm
#
# A headless Chromium for tests: chromedriver, spoken to by the WebDriver protocol (HTTP and
# JSON), with a profile of its own in a temporary directory.  What it is told to inspect in a
# page is in page_checks.js.

package SyncProbeBrowser;

use Encode ();
use HTTP::Tiny;
use IPC::Cmd 'can_run';
use IPC::Run;
use JSON::PP;
use SyncProbeTest;

# Nothing if it is not installed.  As it works without its sandbox, which containers often
# refuse, it must only read pages that the test itself made.
sub start ($class)
{
	return unless can_run('chromium') && can_run('chromedriver');
	my $home = PostgreSQL::Test::Utils::tempdir();
	my $out = '';
	local @ENV{qw(HOME XDG_CONFIG_HOME XDG_CACHE_HOME)} = ($home) x 3;
	my $driver = IPC::Run::start([ can_run('chromedriver'), '--port=0', "--log-path=$home/log" ],
		'<', \undef, '>', \$out, '2>', "$home/err");
	$driver->pump until $out =~ /successfully on port (\d+)/;
	my $self = bless {
		driver => $driver,
		http => HTTP::Tiny->new(timeout => 300, no_proxy => '127.0.0.1'),
		url => "http://127.0.0.1:$1/session" }, $class;

	my $session = $self->call('POST', '', { capabilities => { alwaysMatch => {
		'goog:loggingPrefs' => { browser => 'ALL' },
		'goog:chromeOptions' => {
			binary => can_run('chromium'),
			args => [ qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage
				--no-first-run --hide-scrollbars), "--user-data-dir=$home/profile" ] } } } });
	$self->{url} .= "/$session->{sessionId}";
	return $self;
}

# One command; dies with the message of the driver if that refuses it.
sub call ($self, $method, $path, $body = undef)
{
	my $answer = $self->{http}->request($method, $self->{url} . $path,
		defined $body ? { content => encode_json($body) } : {});
	my $value = eval { decode_json($answer->{content})->{value} };
	die "$method $path: ", ref $value ? $value->{message} : $answer->{content}
	  unless $answer->{success};
	return $value;
}

sub cdp ($self, $command, $parameters)
{
	return $self->call('POST', '/goog/cdp/execute', { cmd => $command, params => $parameters });
}

# The body of a function; what it returns.
sub script ($self, $body, @arguments)
{
	return $self->call('POST', '/execute/sync', { script => $body, args => \@arguments });
}

# Width in pixels; scheme (light or dark) and media (screen or print) as the reader has them.
sub view ($self, $width, $scheme, $media = 'screen')
{
	$self->cdp('Emulation.setDeviceMetricsOverride',
		{ width => $width, height => 900, deviceScaleFactor => 1, mobile => JSON::PP::false });
	return $self->cdp('Emulation.setEmulatedMedia', { media => $media,
		features => [ { name => 'prefers-color-scheme', value => $scheme } ] });
}

sub open_page { return $_[0]->call('POST', '/url', { url => "file://$_[1]" }) }

# Complaints of a check in page_checks.js about the page that is open.
sub check ($self, $name, @arguments)
{
	$self->{checks} //= slurp_file(__FILE__ =~ s/SyncProbeBrowser\.pm$/page_checks.js/r);
	# bytes, as TAP is written
	return map { Encode::encode_utf8($_) }
	  @{ $self->script("$self->{checks}\nreturn checks.$name(...arguments);", @arguments) };
}

# What the page or the browser has complained of since the last call.
sub console ($self)
{
	return map { "$_->{level} $_->{message}" } grep { $_->{level} =~ /^(?:SEVERE|WARNING)$/ }
	  @{ $self->call('POST', '/se/log', { type => 'browser' }) };
}

# Also if the test dies, but not later than in END: a browser would stay behind.
sub DESTROY ($self)
{
	local ($@, $?);
	eval { $self->call('DELETE', '') };
	eval { $self->{driver}->kill_kill };
	return;
}

1;
