/**
 * What to do about a database that cannot be opened, by the code of the error: a SQLSTATE
 * (appendix A of PostgreSQL's manual), an error of the operating system or one of OpenSSL.
 */
const ADVICE: readonly [RegExp, string][] = [
	[
		/^28/,
		"correct the user or the password in DATABASE_URL, and check that pg_hba.conf lets this machine in",
	],
	[/^3D000$/, "create the database, or correct its name in DATABASE_URL"],
	[/^42501$/, "let the user of DATABASE_URL own the database"],
	[
		/^53100$/,
		"the disk of the database is full: make room on it, but delete nothing in the folder of the database by hand (docs/diagnosing.md); `assay doctor` shows the free space",
	],
	[
		/^53300$/,
		"close other connections to PostgreSQL, or raise its max_connections",
	],
	[/^57P03$/, "wait until PostgreSQL has started, and try again"],
	[
		/^(ECONNREFUSED|ENOENT|EACCES)$/,
		"start PostgreSQL, or correct the host and port in DATABASE_URL",
	],
	[
		/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
		"check the network and the firewalls between this machine and PostgreSQL",
	],
	[
		/^ECONNRESET$/,
		"PostgreSQL, or a proxy in front of it, ended the connection; its log says why",
	],
	[
		/ALTNAME/,
		"use a host name in DATABASE_URL that the certificate of PostgreSQL has, or sslmode=verify-ca if only the authority counts",
	],
	[
		/CERT_HAS_EXPIRED/,
		"renew the certificate of PostgreSQL, and reload PostgreSQL",
	],
	[
		/CERT|ISSUER|SIGNATURE/,
		"name the file with the certificate of the authority that signed the certificate of PostgreSQL, with sslrootcert in DATABASE_URL",
	],
];

/** Advice by the text of errors. It comes first, because it is more exact than a code. */
const ADVICE_BY_TEXT: readonly [RegExp, string][] = [
	[
		/, no encryption$/m,
		"add sslmode=verify-full to DATABASE_URL if PostgreSQL requires TLS (docs/operating.md); otherwise let this machine in with pg_hba.conf",
	],
	[
		/does not support SSL/,
		"switch TLS on in PostgreSQL, or remove sslmode from DATABASE_URL if the network is safe",
	],
	[
		// The messages of `pg` when the server's answer to a new connection never came.
		/^(timeout expired|Connection terminated due to connection timeout)/,
		"if this machine or PostgreSQL's is busy, try again later; otherwise check the network and the firewalls between them",
	],
	[
		/timeout/i,
		"PostgreSQL is reached, but this machine or PostgreSQL's is too busy; try again when there is less to do",
	],
	[
		/must be a string|SASL/,
		"add the password to DATABASE_URL; PostgreSQL asks for one",
	],
];

/** Says what the operator should do when the database cannot be opened because of `error`. */
export function connectionAdvice(error: unknown): string {
	const { message = "" } = error as { message?: string };
	const byText = ADVICE_BY_TEXT.find(([pattern]) => pattern.test(message));
	return (
		byText?.[1] ??
		adviceByCode(error) ??
		"check that PostgreSQL runs and that DATABASE_URL has the right host, user, password and database"
	);
}

/** The advice if nothing is known but that the database does not answer, as when it hangs. */
export const ASK_DOCTOR =
	"`assay doctor` says whether the database runs, and what to do";

/** Says what to do about the embedded PostgreSQL, for which there is no DATABASE_URL. */
export function embeddedAdvice(error: unknown): string {
	const { code = "" } = error as { code?: string };
	// The advice of the classes 53 to 58, such as a full disk, is about the server itself.
	return (code.startsWith("5") && adviceByCode(error)) || ASK_DOCTOR;
}

/** Returns the advice for the code of an error. Returns undefined if there is none for it. */
export function adviceByCode(error: unknown): string | undefined {
	const { code, hostname } = error as { code?: string; hostname?: string };
	if (code === undefined) return undefined;
	if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
		return adviceOnName(hostname ?? "");
	}
	return ADVICE.find(([pattern]) => pattern.test(code))?.[1];
}

/** Says what to do about a name of a host that has no address here. */
function adviceOnName(hostname: string): string {
	if (/(^|\.)localhost$/.test(hostname)) {
		return `write 127.0.0.1 instead of ${hostname} into DATABASE_URL, or add the name to /etc/hosts`;
	}
	// Docker and Kubernetes give services such names, which only their own networks know.
	return /^[^.]+$/.test(hostname)
		? `if ${hostname} is a container or a service, start its network and run this inside (docker compose exec, kubectl exec); otherwise correct the name of the host in DATABASE_URL`
		: "correct the name of the host in DATABASE_URL, or the name servers of this machine (/etc/resolv.conf)";
}
