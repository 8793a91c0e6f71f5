import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { makeMailer, nameInMail } from "../../src/mail/mail.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";

const from = "Assay <assay@example.com>";

/** Creates a logger that keeps all its lines. */
function makeLog() {
	const lines: string[] = [];
	const log = pino({}, { write: (line) => void lines.push(line) });
	return { log, lines };
}

test("a mail reaches its address with its text, and its sender does not wait for it", async () => {
	const sink = await openSmtpSink();
	onTestFinished(() => sink.close());
	const { log, lines } = makeLog();
	const mailer = makeMailer(
		{ smtpUrl: sink.url, from, requiresTls: false },
		log,
	);
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

test("an unreachable mail server is logged without its password and without the mail's text", async () => {
	const { log, lines } = makeLog();
	const smtpUrl = "smtp://user:hunter2@127.0.0.1:1";
	const mailer = makeMailer({ smtpUrl, from, requiresTls: false }, log);
	mailer.send({ to: "ada@example.com", subject: "Hello", text: "secret text" });
	await mailer.idle();
	expect(lines).toHaveLength(1);
	expect(lines[0]).toContain("ASSAY_SMTP_URL");
	expect(lines[0]).toContain("ECONNREFUSED");
	expect(lines[0]).not.toMatch(/hunter2|secret text/);
});

test("a name that a user has chosen cannot add a link, a line or a long text to a mail to somebody else", () => {
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

test("a mail is sent over TLS or not at all, unless the server is on this machine or the operator permits it", async () => {
	const requires = (url: string) =>
		readConfig({ ASSAY_SMTP_URL: url, ASSAY_MAIL_FROM: from }).mail
			?.requiresTls;
	expect(requires("smtp://mail.example.com:587")).toBe(true);
	expect(requires("smtp://10.0.0.5")).toBe(true);
	expect(requires("smtp://localhost.example.com")).toBe(true);
	expect(requires("smtp://127.0.0.1:25")).toBe(false);
	expect(requires("smtp://localhost")).toBe(false);
	expect(requires("smtp://[::1]")).toBe(false);
	expect(requires("smtp://mail.example.com?requireTLS=false")).toBe(false);
	const sink = await openSmtpSink();
	onTestFinished(() => sink.close());
	const { log, lines } = makeLog();
	// The sink does not support TLS. It looks the same as a server behind a network that hides
	// STARTTLS.
	const mailer = makeMailer(
		{ smtpUrl: sink.url, from, requiresTls: true },
		log,
	);
	mailer.send({ to: "ada@example.com", subject: "Hello", text: "secret text" });
	await mailer.idle();
	expect(sink.waiting()).toBe(0);
	expect(lines.join()).toContain("STARTTLS");
});
