import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { createServer } from "node:tls";
import { createTransport } from "nodemailer";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { failureOf } from "../../src/mail/failure.ts";
import { makeFailureLog } from "../../src/mail/failure-log.ts";
import { nameInMail } from "../../src/mail/message.ts";
import { sendMessage } from "../../src/mail/send.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

const from = "Assay <assay@example.com>";

let sink: SmtpSink;
beforeAll(async () => {
	sink = await openSmtpSink();
});
afterAll(() => sink.close());

test("each kind of failure has its own advice, and the text has no password", async () => {
	const message = { to: "ada@example.com", subject: "x", text: "x" };
	const failure = async (smtpUrl: string, requiresTls = false) => {
		const config = { smtpUrl, from, requiresTls };
		const error = await sendMessage(config, message).catch((reason) => reason);
		return failureOf(error, config);
	};
	const closed = await failure("smtp://user:hunter2@127.0.0.1:1");
	expect(closed).toMatchObject({ kind: "CONNECTION", isFinal: false });
	expect(closed.text).toContain("ECONNREFUSED");
	expect((await failure(sink.url, true)).kind).toBe("TLS");
	expect(await failure(sink.url.replace("smtp:", "smtps:"))).toMatchObject({
		kind: "TLS",
		text: "TLS failed: wrong version number",
	});

	sink.answers.set("EHLO", "250-sink\r\n250 AUTH PLAIN");
	sink.answers.set("AUTH", "535 hunter2 is wrong");
	const login = await failure(sink.url.replace("//", "//user:hunter2@"));
	expect(login).toMatchObject({ kind: "LOGIN", isFinal: false });
	expect(login.text).toContain("535 [password] is wrong");
	sink.answers.set(
		"AUTH",
		'535 the login hunter2000 is not hunter%22, hunter"2',
	);
	for (const [password, said] of [
		["h", '535 the login hunter2000 is not hunter%22, hunter"2'],
		["login", '535 the login hunter2000 is not hunter%22, hunter"2'],
		["hunter2", '535 the login hunter2000 is not hunter%22, hunter"2'],
		["hunter%22", '535 the login hunter2000 is not [password], hunter"2'],
		["hunter%222", "535 the login hunter2000 is not hunter%22, [password]"],
	]) {
		const url = sink.url.replace("//", `//user:${password}@`);
		expect((await failure(url)).text).toContain(said);
	}
	sink.answers.clear();
	sink.answers.set("MAIL", "550 not you");
	expect((await failure(sink.url)).kind).toBe("SENDER");
	sink.answers.set("MAIL", "530 5.7.0 Authentication required");
	expect((await failure(sink.url)).kind).toBe("LOGIN");
	sink.answers.set("MAIL", "530 5.7.0 Must issue a STARTTLS command first");
	expect((await failure(sink.url)).kind).toBe("TLS");
	sink.answers.clear();
	sink.answers.set("RCPT", "550 no ada@example.com here");
	expect(await failure(sink.url)).toMatchObject({
		kind: "RECIPIENT",
		isFinal: true,
		text: expect.stringContaining("no [address] here"),
	});
	sink.answers.set("RCPT", "450 later");
	expect((await failure(sink.url)).isFinal).toBe(false);
	sink.answers.clear();

	const secure = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY });
	secure.on("tlsClientError", () => {});
	secure.listen(0, "127.0.0.1");
	await once(secure, "listening");
	onTestFinished(() => void secure.close());
	const { port } = secure.address() as AddressInfo;
	expect((await failure(`smtps://127.0.0.1:${port}`)).kind).toBe("CERTIFICATE");
});

test("a mail server that stalls at the login is not called unreachable", async () => {
	const stalling = createPlainServer((socket) => {
		socket.write("220 hello\r\n");
		socket.on("error", () => {});
		socket.on("data", (text) => {
			if (/^EHLO/.test(String(text))) {
				socket.write("250-hello\r\n250 AUTH PLAIN\r\n");
			}
		});
	});
	stalling.listen(0, "127.0.0.1");
	await once(stalling, "listening");
	onTestFinished(() => void stalling.close());
	const { port } = stalling.address() as AddressInfo;
	const smtpUrl = `smtp://user:hunter2@127.0.0.1:${port}`;
	const transport = createTransport({ url: smtpUrl, socketTimeout: 200 });
	const error = await transport.verify().catch((reason) => reason);
	expect(failureOf(error, { smtpUrl, from, requiresTls: false })).toEqual({
		kind: "OTHER",
		text: "the mail server answered at first, and then no more",
		isFinal: false,
	});
});

test("while the mail server is away, one line speaks for all mails, and each refused address has its own", () => {
	const { lines, logger } = new ReadableLog();
	const log = makeFailureLog(logger);
	const away = { kind: "CONNECTION", text: "refused", isFinal: false } as const;
	const unknown = { kind: "RECIPIENT", text: "who?", isFinal: true } as const;
	vi.useFakeTimers({ toFake: ["Date"] });
	onTestFinished(() => void vi.useRealTimers());
	for (const id of ["1", "2", "3"]) log({ id, kind: "INVITATION" }, away);
	for (const id of ["4", "5"]) log({ id, kind: "INVITATION" }, unknown);
	vi.setSystemTime(Date.now() + 600_000);
	log({ id: "6", kind: "INVITATION" }, away);
	expect(lines.map(({ mail, more }) => [mail, more])).toEqual([
		["1", undefined],
		["4", undefined],
		["5", undefined],
		["6", 2],
	]);
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

test("a mail is sent over TLS or not at all, unless the server is on this machine or the operator permits it", () => {
	const requires = (url: string) =>
		readConfig({ ASSAY_SMTP_URL: url, ASSAY_MAIL_FROM: from }).mail
			?.requiresTls;
	expect(requires("smtp://mail.example.com:587")).toBe(true);
	expect(requires("smtp://10.0.0.5")).toBe(true);
	expect(requires("smtp://localhost.example.com")).toBe(true);
	expect(requires("smtps://localhost")).toBe(true);
	expect(requires("smtp://127.0.0.1:25")).toBe(false);
	expect(requires("smtp://localhost")).toBe(false);
	expect(requires("smtp://[::1]")).toBe(false);
	expect(requires("smtp://mail.example.com?requireTLS=false")).toBe(false);
});
