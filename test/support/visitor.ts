/** A browser without pages: it keeps cookies and follows redirects from one website to another. */
export class Visitor {
	/** Cookies by origin and name. */
	readonly #cookies = new Map<string, Map<string, string>>();

	/** Returns the cookies for an address, in the format of a request's Cookie header. */
	cookieFor(address: string): string {
		const cookies = this.#cookies.get(new URL(address).origin);
		return [...(cookies ?? [])]
			.map(([name, value]) => `${name}=${value}`)
			.join("; ");
	}

	/** Keeps cookies, in the format of a request's Cookie header, for the website of an address. */
	keep(address: string, cookie: string): void {
		this.#keep(new URL(address).origin, cookie.split("; "));
	}

	/** Removes the cookies of a website, for example because the person signed out there. */
	forget(address: string): void {
		this.#cookies.delete(new URL(address).origin);
	}

	/**
	 * Opens an address and follows redirects until one leads to an address that `stops` accepts, or
	 * until an answer is no redirect. Returns the last address.
	 */
	async open(
		address: string,
		stops: (url: URL) => boolean = () => false,
	): Promise<{ url: URL; status: number; text: string }> {
		let url = new URL(address);
		for (let hop = 0; hop < 20; hop++) {
			const response = await fetch(url, {
				redirect: "manual",
				headers: { cookie: this.cookieFor(url.href) },
			});
			const text = await response.text();
			this.#keep(url.origin, response.headers.getSetCookie());
			const location = response.headers.get("location");
			if (!location) return { url, status: response.status, text };
			url = new URL(location, url);
			if (stops(url)) return { url, status: response.status, text };
		}
		throw new Error(`${address} leads nowhere; last: ${url}`);
	}

	#keep(origin: string, headers: readonly string[]): void {
		const cookies = this.#cookies.get(origin) ?? new Map<string, string>();
		for (const header of headers) {
			const [pair = "", ...attributes] = header.split(";");
			const split = pair.indexOf("=");
			const name = pair.slice(0, split);
			const isGone = attributes.some((one) => /^ *max-age=0$/i.test(one));
			if (isGone) cookies.delete(name);
			else cookies.set(name, pair.slice(split + 1));
		}
		this.#cookies.set(origin, cookies);
	}
}
