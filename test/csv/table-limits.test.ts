import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readTable } from "../../src/csv/read-table.ts";
import { shareConsole } from "../support/console-session.ts";

test.for([
	["10,000 lines", "x\n".repeat(10_001), /has more than 10000 lines/],
	[
		"16 MiB (by one byte)",
		`${"x".repeat(1023)}\n`.repeat(16 * 1024).slice("name\n".length - 1),
		/^the file has more than 16777216 bytes/,
	],
] as const)("a file of more than %s is rejected", async ([, text, message]) => {
	const table = readTable(Readable.from([Buffer.from(`name\n${text}`)]));
	await expect(table).rejects.toThrow(message);
});

test.for([
	["quoted cell that never ends", `name\n"${"x".repeat(1024 * 1024)}`],
	["single line", `name\n${"x".repeat(1024 * 1024)}`],
] as const)("a %s of more than 1 MiB is rejected before the rest is read", async ([
	,
	start,
]) => {
	let bytesRead = 0;
	async function* bytes() {
		for (const chunk of [start, ...Array(100).fill("x".repeat(64 * 1024))]) {
			bytesRead += chunk.length;
			yield Buffer.from(chunk);
		}
	}
	await expect(readTable(bytes())).rejects.toThrow(
		/of more than 1048576 characters/,
	);
	// The service has read only the few chunks that a stream reads in advance.
	expect(bytesRead).toBeLessThan(4 * 1024 * 1024);
});

test("a line of exactly 1 MiB is read", async () => {
	const cell = "x".repeat(1024 * 1024);
	const { lines } = await readTable(
		Readable.from([Buffer.from(`name\n${cell}\n"${cell.slice(2)}"\n`)]),
	);
	expect(lines.map(({ cells }) => cells[0]?.length)).toEqual([
		cell.length,
		cell.length - 2,
	]);
});

test("other work continues while a file of the worst shape is read", async () => {
	const lines = `name${",".repeat(199)}\n${`${",".repeat(1600)}\n`.repeat(1000)}`;
	const bytes = Readable.from([Buffer.from(lines)]);
	let turns = 0;
	let isReading = true;
	const count = () => {
		turns += 1;
		if (isReading) setImmediate(count);
	};
	setImmediate(count);
	const { lines: found } = await readTable(bytes);
	isReading = false;
	// All lines are empty. The reader gives way to other work after each 32 KiB.
	expect(found).toEqual([]);
	expect(turns).toBeGreaterThan(Buffer.byteLength(lines) / (32 * 1024));
});

test("10,000 lines below a heading that is not the first line are read", async () => {
	const text = `\n\nname\n${"x\n".repeat(10_000)}`;
	const { lines } = await readTable(Readable.from([Buffer.from(text)]));
	expect(lines).toHaveLength(10_000);
	expect(lines.at(-1)?.line).toBe(10_003);
	await expect(
		readTable(Readable.from([Buffer.from(`${text}x\n`)])),
	).rejects.toThrow(/has more than 10000 lines/);
});

test("a file that names more than 50,000 different records is rejected", async () => {
	const served = await shareConsole();
	const { organizationId: organization_id } = served;
	const member = await served.signIn("member");
	const vendorsOf = (line: number) =>
		Array.from({ length: 501 }, (_, n) => `${line}.${n}`).join(";");
	const lines = Array.from({ length: 100 }, (_, n) => `a,${vendorsOf(n)}`);
	const answer = await member.call("importRecords", {
		organization_id,
		kind: "asset",
		csv: ["name,vendors", ...lines].join("\n"),
	});
	expect(answer.status).toBe(400);
	expect(answer.body.message).toMatch(
		/names more than 50000 records in the lines up to 101, the limit/,
	);
});
