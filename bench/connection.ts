import { createConnection, type Socket } from "node:net";

/** Stands for the status of a request that got no answer. */
export const NO_ANSWER = 0;

/** Receives the status and the text of an answer. The status is NO_ANSWER if there was none. */
type Done = (status: number, text: string) => void;

interface Answer {
	status: number;
	isLast: boolean;
	text: string;
}

/**
 * One keep-alive HTTP/1.1 connection with one request in flight. It reads only the parts of an
 * answer that the measurement needs, because a full client would take processor time away from the
 * service. After a failure, the next request opens the connection again.
 */
export class Connection {
	readonly #port: number;
	#socket: Socket | undefined;
	/** The beginning of an answer that arrives in several parts. */
	#held = "";
	#done: Done | undefined;

	constructor(port: number) {
		this.#port = port;
	}

	/** Opens the connection. Rejects if that fails. */
	open(): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#connect().once("connect", resolve).once("error", reject);
		});
	}

	/** Sends a request, which must be ASCII. `done` is called exactly once. */
	send(request: string, done: Done): void {
		this.#done = done;
		(this.#socket ?? this.#connect()).write(request, "latin1");
	}

	/** Closes the connection at once. A request in flight gets no answer. */
	close(): void {
		this.#socket?.destroy();
		this.#finish(NO_ANSWER, "not answered in time");
	}

	#connect(): Socket {
		// One buffer is used for the whole connection instead of one for each read.
		const buffer = Buffer.allocUnsafeSlow(4096);
		const socket = createConnection({
			port: this.#port,
			host: "127.0.0.1",
			noDelay: true,
			onread: {
				buffer,
				callback: (length) => {
					this.#read(buffer.toString("latin1", 0, length));
					return true;
				},
			},
		});
		socket.on("error", () => {});
		socket.on("close", () => {
			if (this.#socket !== socket) return;
			this.#socket = undefined;
			this.#held = "";
			this.#finish(NO_ANSWER, "the connection was closed");
		});
		this.#socket = socket;
		return socket;
	}

	#read(text: string): void {
		const answer = parse(this.#held + text);
		if (answer === undefined) {
			this.#held += text;
			return;
		}
		this.#held = "";
		if (answer.isLast) {
			this.#socket?.destroy();
			this.#socket = undefined;
		}
		this.#finish(answer.status, answer.text);
	}

	#finish(status: number, text: string): void {
		const done = this.#done;
		this.#done = undefined;
		done?.(status, text);
	}
}

/**
 * Returns an answer, or undefined while a part of it is missing. The answer must have a
 * content-length.
 */
function parse(text: string): Answer | undefined {
	const head = text.indexOf("\r\n\r\n");
	if (head < 0) return undefined;
	const status = Number(text.slice(9, 12));
	const found = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
	const length = status === 204 ? 0 : Number(found?.[1]);
	const end = head + 4 + length;
	if (text.length < end) return undefined;
	if (text.length !== end) return { status: NO_ANSWER, isLast: true, text };
	const isLast = /\r\nconnection: *close/i.test(text.slice(0, head + 2));
	return { status, isLast, text };
}
