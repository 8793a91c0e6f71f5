import type { Locator, Page, Request } from "playwright-core";
import { expect } from "vitest";

interface Requests {
	running: Set<Request>;
	/** Number of requests that have begun. */
	begun: number;
}

const requestsOf = new WeakMap<Page, Requests>();

/** Counts the requests of the page from now on, for `settled`. */
export function noteRequests(page: Page): Requests {
	const requests: Requests = { running: new Set(), begun: 0 };
	const isOver = (request: Request) => requests.running.delete(request);
	page.on("request", (request) => {
		// The requests of the document before need not end.
		if (request.isNavigationRequest()) requests.running.clear();
		requests.running.add(request);
		requests.begun++;
	});
	page.on("requestfinished", isOver);
	page.on("requestfailed", isOver);
	requestsOf.set(page, requests);
	return requests;
}

/** Returns how many requests of the page are on their way. */
export function countRunning(page: Page): number {
	return requestsOf.get(page)?.running.size ?? 0;
}

/**
 * This code runs in the page. It waits until the page has nothing left to do. If Chromium draws
 * nothing, it may never call the page idle, so the waiting has a limit.
 */
const IDLE = `new Promise((done) => {
	const whenIdle = (then) => requestIdleCallback(then, { timeout: 500 });
	whenIdle(() => whenIdle(() => done()));
})`;

/**
 * A page with this script behaves as if its user asked to save data. So it does not load the code of
 * the search two seconds later.
 */
export const SAVE_DATA = `Object.defineProperty(navigator, "connection", {
	value: { saveData: true }, configurable: true,
})`;

/**
 * Waits until no request of the page is on its way and the page has nothing left to do. A test calls
 * this before it changes what the page would otherwise still read, such as a session in the
 * database, and before it uses rows that may be about to be replaced. It does not wait for what the
 * page does after a pause, such as a search a moment after the last letter.
 */
export async function settled(page: Page): Promise<void> {
	const requests = requestsOf.get(page) ?? noteRequests(page);
	const unfinished = async () => {
		const before = requests.begun;
		await page.evaluate(IDLE);
		const urls = [...requests.running].map((request) => request.url());
		return { urls, begun: requests.begun - before };
	};
	await expect
		.poll(unfinished, { message: `requests of ${page.url()}` })
		.toEqual({ urls: [], begun: 0 });
}

/** Waits until this field has the focus, so that keys reach it. */
export async function focused(field: Locator): Promise<void> {
	await field.and(field.page().locator(":focus")).waitFor();
}

/** Types into a field that gets the focus by itself, for example because its dialog opens. */
export async function typeInto(field: Locator, text: string): Promise<void> {
	await focused(field);
	await field.page().keyboard.type(text);
}

/** Presses Escape when this dialog or menu hears it, which is a moment after it is shown. */
export async function pressEscape(dialog: Locator): Promise<void> {
	const page = dialog.page();
	await dialog.waitFor();
	await page.evaluate(IDLE);
	await page.keyboard.press("Escape");
}
