import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { makeMailer, nameInMail } from "../../src/mail/mail.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";

const from = "Assay <assay@example.com>";

/** A logger, and what it was given. */
function makeLog() {
	const lines: string[] = [];
	const log = pino({}, { write: (line) => void lines.push(line) });
	return { log, lines };
}

test("a mail goes to its address with its text and is not waited for", async () => {
	const sink = await openSmtpSink();
	onTestFinished(() => sink.close());
	const { log, lines } = makeLog();
	const mailer = makeMailer({ smtpUrl: sink.url, from }, log);
	mailer.send({
		to: "ada@example.com",
		subject: "Hello",
		text: "https://assay.example.com/reset-password#asy_rst_x",
	});
	const { to, text } = await sink.next();
	expect(to).toBe("ada@example.com");
	expect(text).toContain("From: Assay <assay@example.com>");
	expect(text).toContain("/reset-password#asy_rst_x");
	await mailer.idle();
	expect(lines).toEqual([]);
});

test("a mail server that is away is told to the log, without its password and the text", async () => {
	const { log, lines } = makeLog();
	const smtpUrl = "smtp://user:hunter2@127.0.0.1:1";
	const mailer = makeMailer({ smtpUrl, from }, log);
	mailer.send({ to: "ada@example.com", subject: "Hello", text: "secret text" });
	await mailer.idle();
	expect(lines).toHaveLength(1);
	expect(lines[0]).toContain("ASSAY_SMTP_URL");
	expect(lines[0]).toContain("ECONNREFUSED");
	expect(lines[0]).not.toMatch(/hunter2|secret text/);
});

test("a name that somebody has chosen makes no link, no line and no long text in a mail to somebody else", () => {
	for (const [name, written] of [
		["Acme", "Acme"],
		["Müller & Söhne GmbH & Co. KG", "Müller & Söhne GmbH & Co. KG"],
		["Booking.com", "Booking. com"],
		["see https://evil.example/x?y", "see https: / / evil. example/ x?y"],
		["write to a@evil.example", "write to a@ evil. example"],
		["Acme\n\nYour account is locked", "Acme Your account is locked"],
		["Acme\u2028now\u202Eecalp", "Acme nowecalp"],
		["😀".repeat(200), `${"😀".repeat(80)}…`],
	] as const) {
		expect(nameInMail(name)).toBe(written);
	}
});
