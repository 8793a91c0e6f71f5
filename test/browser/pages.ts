import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { countRunning } from "./settled.ts";

const VIEWPORT = { width: 1280, height: 800 };
/** These options of a page can be changed. A page with other options is not used again. */
const CHANGEABLE = ["viewport", "colorScheme"];
const USUAL_MEDIA = {
	media: null,
	reducedMotion: "reduce",
	colorScheme: "light",
} as const;
/** The events that a test may listen to. */
const EVENTS = [
	...["console", "dialog", "pageerror"],
	...["request", "requestfailed", "requestfinished"],
];

/**
 * This code runs in a page of the console. It leaves an empty document that does nothing any more,
 * and returns whether media are as a new page has them. Opening a document erases the listeners of
 * the window and of all elements. What still runs, such as the answer of a request, can neither send
 * a request, nor store anything, nor complain.
 */
const EMPTY = `(() => {
	const never = () => new Promise(() => {});
	const nothing = () => {};
	fetch = never;
	Storage.prototype.setItem = nothing;
	for (const name of Object.keys(console)) console[name] = nothing;
	// React renders when a message arrives.
	MessagePort.prototype.postMessage = nothing;
	for (let id = setTimeout(nothing); id > 0; id--) clearTimeout(id);
	setTimeout = setInterval = requestAnimationFrame = requestIdleCallback = () => 0;
	document.open();
	document.close();
	for (const name of ["error", "unhandledrejection"]) {
		addEventListener(name, (event) => event.preventDefault());
	}
	localStorage.clear();
	sessionStorage.clear();
	// Going from here to an address that differs by its fragment would not load a document.
	History.prototype.replaceState.call(history, null, "", "/between-tests");
	return matchMedia(
		"screen and (prefers-color-scheme: light) and (prefers-reduced-motion: reduce)",
	).matches;
})()`;

/**
 * The pages of a service at `url`. After a test, its page is emptied and given to the next one, also
 * in the next test file. A new page has a process of its own that compiles the scripts of the console
 * again, so that loading the console costs three times as much. A test must wait for each of its
 * clicks, or a click that is left would press a button of the next test.
 */
export class Pages {
	readonly #browser: Browser;
	readonly #url: string;
	/** Pages that no test uses now. */
	readonly #free: Page[] = [];

	constructor(browser: Browser, url: string) {
		this.#browser = browser;
		this.#url = url;
	}

	get port(): string {
		return new URL(this.#url).port;
	}

	isFor(browser: Browser, url: string): boolean {
		return browser === this.#browser && url === this.#url;
	}

	/** Returns a page, and a function that takes it back when its test has ended. */
	async open(options: BrowserContextOptions): Promise<[Page, Close]> {
		const isPlain = Object.keys(options).every((name) =>
			CHANGEABLE.includes(name),
		);
		if (!isPlain) {
			const page = await this.#openNew(options);
			return [page, () => page.context().close()];
		}
		const page = this.#free.pop() ?? (await this.#openNew({}));
		if (options.viewport) await page.setViewportSize(options.viewport);
		const { colorScheme } = options;
		if (colorScheme) await page.emulateMedia({ colorScheme });
		return [page, () => this.#takeBack(page)];
	}

	async #openNew(options: BrowserContextOptions): Promise<Page> {
		const context = await this.#browser.newContext({
			baseURL: this.#url,
			locale: "en-GB",
			timezoneId: "Europe/Berlin",
			reducedMotion: USUAL_MEDIA.reducedMotion,
			permissions: ["clipboard-read", "clipboard-write"],
			viewport: VIEWPORT,
			...options,
		});
		// The default timeout of 30 seconds is too short for a page on a busy machine.
		context.setDefaultTimeout(60_000);
		return context.newPage();
	}

	/** Makes the page like new, without its listeners, routes, cookies and stored data. */
	async #takeBack(page: Page): Promise<void> {
		const context = page.context();
		if (page.isClosed()) return context.close();
		for (const other of context.pages()) {
			if (other !== page) await other.close();
		}
		context.removeAllListeners("request");
		for (const event of EVENTS) page.removeAllListeners(event);
		await page.unrouteAll();
		await context.unrouteAll();
		await context.setOffline(false);
		const hasUsualMedia = await this.#empty(page);
		const { width, height } = page.viewportSize() ?? {};
		if (width !== VIEWPORT.width || height !== VIEWPORT.height) {
			await page.setViewportSize(VIEWPORT);
		}
		if (!hasUsualMedia) await page.emulateMedia(USUAL_MEDIA);
		await context.clearCookies();
		this.#free.push(page);
	}

	/**
	 * Empties the document and what its website has stored. Returns whether the page shows usual media.
	 * Loading another page instead, and the next page of the console from there, takes 120 ms of
	 * processor time.
	 */
	async #empty(page: Page): Promise<boolean> {
		// The router loads the page again if the code of a page does not arrive.
		const isQuiet = countRunning(page) === 0;
		if (isQuiet && page.url().startsWith(`${this.#url}/`)) {
			try {
				return await page.evaluate<boolean>(EMPTY);
			} catch {
				// The document may be one that scripts cannot change, or may be just going away.
			}
		}
		// This page of the service contains no script that could store something again.
		await page.goto(`${this.#url}/health/live`);
		await page.evaluate("localStorage.clear(); sessionStorage.clear()");
		return false;
	}

	/** Keeps the pages for the next service on the same port. */
	rest(): void {
		resting.push(this);
	}

	async close(): Promise<void> {
		for (const page of this.#free) await page.context().close();
	}
}

type Close = () => Promise<void>;

/** The pages of services that have stopped. */
const resting: Pages[] = [];

/**
 * Starts a service on the port of one that has stopped, and returns it with the pages of that one.
 * They have compiled the scripts of the console, but only for that address. If another program has
 * the port now, the service starts on a new one, with new pages.
 */
export async function startWithPages<
	Served extends { service: { url: string } },
>(
	browser: Browser,
	start: (port: string) => Promise<Served>,
): Promise<{ served: Served; pages: Pages }> {
	const before = resting.pop();
	const served = await (before
		? start(before.port).catch(() => start("0"))
		: start("0"));
	if (before?.isFor(browser, served.service.url)) {
		return { served, pages: before };
	}
	await before?.close();
	return { served, pages: new Pages(browser, served.service.url) };
}
