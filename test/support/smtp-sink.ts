import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { until } from "./until.ts";

export interface SmtpSink {
	url: string;
	/**
	 * Returns the next message that has arrived or will arrive, with decoded headers and text. Throws
	 * if none arrives within 30 seconds.
	 */
	next: () => Promise<{ to: string; text: string }>;
	/** Returns the number of messages that have arrived and were not read. */
	waiting: () => number;
	/**
	 * The answer to the next commands that begin with a text, by that text. "250 ok" is the default.
	 */
	answers: Map<string, string>;
	close: () => void;
}

/** Starts a mail server that accepts every message and delivers none of them. */
export async function openSmtpSink(): Promise<SmtpSink> {
	const arrived: { to: string; text: string }[] = [];
	const answers = new Map<string, string>();
	const server = createServer((socket) => {
		// A client that speaks TLS here closes the connection.
		converse(socket).catch(() => {});
	});
	const answerTo = (line: string) =>
		[...answers].find(([command]) => line.startsWith(command))?.[1];
	const converse = async (socket: Socket) => {
		socket.on("error", () => {});
		const say = (line: string) => socket.write(`${line}\r\n`);
		say("220 sink");
		let to = "";
		let lines: string[] | undefined;
		for await (const line of createInterface(socket)) {
			if (lines && line === ".") {
				const message = {
					to,
					text: lines
						.map(keepLinks)
						.join("\n")
						.split(KEPT)
						.map((part, at) => (at % 2 ? part : decode(part)))
						.join(""),
				};
				lines = undefined;
				arrived.push(message);
				say("250 taken");
			} else if (lines) {
				lines.push(line);
			} else if (answerTo(line)) {
				say(answerTo(line) as string);
			} else if (line.startsWith("DATA")) {
				lines = [];
				say("354 go on");
			} else if (line.startsWith("QUIT")) {
				say("221 bye");
				socket.end();
			} else if (line.startsWith("STARTTLS")) {
				say("502 not here");
			} else {
				if (line.startsWith("RCPT")) to = /<(.*)>/.exec(line)?.[1] ?? "";
				say("250 ok");
			}
		}
	};
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
		next: () => until("a mail", () => arrived.shift()),
		waiting: () => arrived.length,
		answers,
		close: () => server.close(),
	};
}

/** Surrounds text that is not decoded. */
const KEPT = "\0";

/** An address in a header is not quoted-printable, although it may contain a `=` and two digits. */
function keepLinks(line: string): string {
	return line.replace(
		/^(?:List-Unsubscribe:)?\s*<https?:.*>/i,
		`${KEPT}$&${KEPT}`,
	);
}

/** Decodes quoted-printable text. */
function decode(text: string): string {
	return text
		.replace(/=\n/g, "")
		.replace(/=([0-9A-F]{2})/g, (_, hex) =>
			String.fromCharCode(Number.parseInt(hex, 16)),
		);
}
