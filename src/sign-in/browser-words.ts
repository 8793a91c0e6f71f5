/**
 * Patterns of browsers. The more specific names come first, because nearly all browsers claim to be
 * Safari and most claim to be Chrome.
 */
const BROWSERS = [
	["Edge", /\bEdgA?\//],
	["Opera", /\bOPR\//],
	["Samsung Internet", /\bSamsungBrowser\//],
	["Firefox", /\b(Firefox|FxiOS)\//],
	["Chrome", /\b(Chrome|HeadlessChrome|CriOS|Chromium)\//],
	["Safari", /\bSafari\//],
	["curl", /^curl\//],
] as const;

const SYSTEMS = [
	["iPad", /\biPad\b/],
	["iPhone", /\biPhone\b/],
	["Android", /\bAndroid\b/],
	["Windows", /\bWindows\b/],
	["macOS", /\bMac OS X\b|\bMacintosh\b/],
	["ChromeOS", /\bCrOS\b/],
	["Linux", /\bLinux\b/],
	["FreeBSD", /\bFreeBSD\b/],
] as const;

/** Describes a browser by its user agent, for example "Firefox on Linux". */
export function deviceWords(userAgent: string | null): string {
	if (!userAgent) return "Unknown browser";
	const find = (known: readonly (readonly [string, RegExp])[]) =>
		known.find(([, sign]) => sign.test(userAgent))?.[0];
	const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
	if (browser && system) return `${browser} on ${system}`;
	return browser ?? system ?? userAgent.slice(0, 60);
}
