import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Milliseconds after which a test gives up. No answer takes this long. */
const TIMEOUT_MS = 60_000;

export interface RawResponse {
	status: number;
	headers: Record<string, string>;
	body: string;
}

/** A connection on which a test writes its HTTP itself. It is closed when the test ends. */
export class RawConnection {
	readonly socket: Socket;
	#received = Buffer.alloc(0);
	#isOver = false;
	#wake = () => {};

	constructor(url: string) {
		const { hostname, port } = new URL(url);
		this.socket = connect({ host: hostname, port: Number(port) });
		this.socket.on("data", (chunk: Buffer) => {
			this.#received = Buffer.concat([this.#received, chunk]);
			this.#wake();
		});
		// The server may also close a connection with a reset.
		this.socket.on("error", () => {});
		this.socket.on("end", () => this.#end());
		this.socket.on("close", () => this.#end());
		onTestFinished(() => {
			this.socket.destroy();
		});
	}

	#end(): void {
		this.#isOver = true;
		this.#wake();
	}

	send(...parts: (string | Uint8Array)[]): this {
		for (const part of parts) this.socket.write(part);
		return this;
	}

	/** Returns the next response. A response to HEAD has no body, whatever its headers say. */
	async response(method = "POST"): Promise<RawResponse> {
		const end = await this.#until(
			() => this.#received.indexOf("\r\n\r\n"),
			"a response",
		);
		const [statusLine = "", ...lines] = this.#take(end + 4)
			.trimEnd()
			.split("\r\n");
		const status = /^HTTP\/1\.1 (\d{3}) /.exec(`${statusLine} `)?.[1];
		if (!status) throw new Error(`no status line: ${statusLine}`);
		const headers: Record<string, string> = {};
		for (const line of lines) {
			const colon = line.indexOf(":");
			headers[line.slice(0, colon).toLowerCase()] = line
				.slice(colon + 1)
				.trim();
		}
		if (headers["transfer-encoding"]) {
			throw new Error(
				`an answer in chunks: ${statusLine}, ${lines.join(", ")}`,
			);
		}
		const length =
			method === "HEAD" ? 0 : Number(headers["content-length"] ?? 0);
		await this.#until(
			() => (this.#received.length >= length ? length : -1),
			"a body",
		);
		return { status: Number(status), headers, body: this.#take(length) };
	}

	/**
	 * Waits until the server has closed the connection. Returns what it sent after the responses that
	 * were read.
	 */
	async closed(): Promise<string> {
		await this.#until(
			() => (this.#isOver ? 0 : -1),
			"the end of the connection",
		);
		return this.#received.toString("latin1");
	}

	#take(length: number): string {
		const taken = this.#received.subarray(0, length).toString("utf8");
		this.#received = this.#received.subarray(length);
		return taken;
	}

	async #until(look: () => number, what: string): Promise<number> {
		let isLate = false;
		const deadline = setTimeout(() => {
			isLate = true;
			this.#wake();
		}, TIMEOUT_MS);
		try {
			for (;;) {
				const found = look();
				if (found >= 0) return found;
				if (this.#isOver || isLate) {
					throw new Error(
						`${isLate ? "waited too long for" : "the connection ended without"} ${what}: ${JSON.stringify(this.#received.toString("latin1"))}`,
					);
				}
				await new Promise<void>((resolve) => {
					this.#wake = resolve;
				});
			}
		} finally {
			clearTimeout(deadline);
		}
	}
}
