import { Client } from "pg";

/** A statement that a program sends. `name` is undefined if it is not prepared. */
interface Sent {
	name: string | undefined;
	text: string;
}

/** Returns the statements that contain `part` and that this process sends during `work`. */
export async function statementsWith(
	part: string,
	work: () => Promise<unknown>,
): Promise<Sent[]> {
	const sent: Sent[] = [];
	const query = Client.prototype.query;
	Client.prototype.query = function (this: Client, ...given: unknown[]) {
		const [first] = given as [string | Sent];
		const { name, text } =
			typeof first === "string" ? { name: undefined, text: first } : first;
		if (text?.includes(part)) sent.push({ name, text });
		return (query as (...all: unknown[]) => unknown).apply(this, given);
	} as typeof query;
	try {
		await work();
	} finally {
		Client.prototype.query = query;
	}
	return sent;
}
