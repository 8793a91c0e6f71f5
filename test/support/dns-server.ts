import { createSocket } from "node:dgram";
import { once } from "node:events";

export interface DnsServer {
	/** Its address, such as 127.0.0.1:53535. */
	address: string;
	/** The TXT records by name in lower case. A name without records does not exist. */
	records: Map<string, string[]>;
	/** With `false`, it receives questions and stays silent. */
	answers: boolean;
	close: () => void;
}

const NO_SUCH_NAME = 3;
/** Longest part of a TXT record. Longer texts are sent in several parts. */
const MAX_PART = 255;

/** Starts a small DNS server for TXT records on 127.0.0.1. */
export async function startDnsServer(): Promise<DnsServer> {
	const socket = createSocket("udp4");
	const server: DnsServer = {
		address: "",
		records: new Map(),
		answers: true,
		close: () => socket.close(),
	};
	socket.on("message", (question, { port, address }) => {
		const { name, end } = readName(question);
		if (!server.answers) return;
		const texts = server.records.get(name) ?? [];
		socket.send(
			Buffer.concat([
				question.subarray(0, 2),
				numbers(0x8180 | (texts.length ? 0 : NO_SUCH_NAME)),
				numbers(1, texts.length, 0, 0),
				question.subarray(12, end + 4),
				...texts.map(txtRecord),
			]),
			port,
			address,
		);
	});
	socket.bind(0, "127.0.0.1");
	await once(socket, "listening");
	server.address = `127.0.0.1:${socket.address().port}`;
	return server;
}

/** Reads the name of the first question, which begins after the 12 bytes of the header. */
function readName(question: Buffer): { name: string; end: number } {
	const labels: string[] = [];
	let at = 12;
	for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
		labels.push(question.toString("latin1", at + 1, at + 1 + length));
		at += length + 1;
	}
	return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

function txtRecord(text: string): Buffer {
	const parts: Buffer[] = [];
	for (let from = 0; from < text.length; from += MAX_PART) {
		const part = Buffer.from(text.slice(from, from + MAX_PART));
		parts.push(Buffer.from([part.length]), part);
	}
	const data = Buffer.concat(parts);
	// The name is a pointer to the question. The type is TXT, the class IN, the time to live 0.
	return Buffer.concat([numbers(0xc00c, 16, 1, 0, 0, data.length), data]);
}

/** Returns 16-bit numbers in network order. */
function numbers(...values: number[]): Buffer {
	const bytes = Buffer.alloc(values.length * 2);
	for (const [index, value] of values.entries()) {
		bytes.writeUInt16BE(value, index * 2);
	}
	return bytes;
}
