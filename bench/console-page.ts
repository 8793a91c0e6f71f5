import type { Browser, BrowserContext, Page } from "playwright-core";

/** The bytes of a page as they are transferred, compressed and with headers. */
export interface Transferred {
	script: number;
	css: number;
	total: number;
	requests: number;
}

export interface Timings {
	ttfbMs: number;
	fcpMs: number;
	lcpMs: number;
}

export interface Visitor {
	base: string;
	/** The user who is signed in. Undefined for a visitor. */
	user?: { email: string; password: string };
}

// The browser measures these times itself, and Lighthouse reads them the same way. They belong to
// the latest page.
const OBSERVE = `
	window.measured = { lcp: 0, interactions: new Map() };
	new PerformanceObserver((list) => {
		for (const entry of list.getEntries()) measured.lcp = entry.startTime;
	}).observe({ type: "largest-contentful-paint", buffered: true });
	new PerformanceObserver((list) => {
		for (const { interactionId, duration } of list.getEntries()) {
			if (!interactionId) continue;
			const before = measured.interactions.get(interactionId) ?? 0;
			measured.interactions.set(interactionId, Math.max(before, duration));
		}
	}).observe({ type: "event", durationThreshold: 16, buffered: true });
`;

/** Opens a page in a browser context with an empty cache. The caller closes `context`. */
export async function openVisit(
	browser: Browser,
	{ base, user }: Visitor,
): Promise<{ context: BrowserContext; page: Page; wire: () => Transferred }> {
	const context = await browser.newContext({
		baseURL: base,
		viewport: { width: 1280, height: 800 },
	});
	await context.addInitScript(OBSERVE);
	if (user) {
		const answer = await context.request.post("/api/auth/sign-in/email", {
			data: user,
			headers: { origin: base },
		});
		if (!answer.ok()) throw new Error(`signing in: ${answer.status()}`);
	}
	const page = await context.newPage();
	return { context, page, wire: await countBytes(page) };
}

async function countBytes(page: Page): Promise<() => Transferred> {
	const session = await page.context().newCDPSession(page);
	const counted: Transferred = { script: 0, css: 0, total: 0, requests: 0 };
	const types = new Map<string, string>();
	session.on("Network.responseReceived", ({ requestId, type }) => {
		types.set(requestId, type);
	});
	session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
		const type = types.get(requestId);
		counted.requests++;
		counted.total += encodedDataLength;
		if (type === "Script") counted.script += encodedDataLength;
		if (type === "Stylesheet") counted.css += encodedDataLength;
	});
	await session.send("Network.enable");
	return () => ({ ...counted });
}

/** Opens `path` and waits until `shown` is visible and the time of the largest paint is known. */
export async function load(
	page: Page,
	path: string,
	shown: string,
): Promise<Timings> {
	await page.goto(path);
	await page.locator(shown).first().waitFor();
	await page.waitForLoadState("networkidle");
	return (await page.evaluate(`({
		ttfbMs: performance.getEntriesByType("navigation")[0].responseStart,
		fcpMs: performance.getEntriesByName("first-contentful-paint")[0].startTime,
		lcpMs: measured.lcp,
	})`)) as Timings;
}

/**
 * Returns the milliseconds between the click on a link and the paint of `shown`, measured by the
 * page's own clock.
 */
export async function clickUntil(
	page: Page,
	link: string,
	shown: string,
): Promise<number> {
	return (await page.evaluate(`new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error("never shown")), 20_000);
		const isShown = () => document.querySelector(${JSON.stringify(shown)}) !== null;
		const began = performance.now();
		const done = () => requestAnimationFrame(() =>
			setTimeout(() => resolve(performance.now() - began)));
		const watch = new MutationObserver(() => {
			if (!isShown()) return;
			watch.disconnect();
			done();
		});
		watch.observe(document.body, { childList: true, subtree: true });
		document.querySelector(${JSON.stringify(link)}).click();
	})`)) as number;
}

/**
 * Returns for each key press and click on this page the milliseconds until the next paint. The
 * browser reports them in steps of 8 and reports short ones as 16.
 */
export async function readInteractions(page: Page): Promise<number[]> {
	return (await page.evaluate(
		"[...measured.interactions.values()]",
	)) as number[];
}
