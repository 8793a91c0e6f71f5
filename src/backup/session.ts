import { Client, type ClientConfig } from "pg";
import { sessionOf } from "../db/session.ts";

/**
 * A connection as the owner on which COPY writes and reads one and the same text whatever the
 * server's settings, and which may take as long as it has to.
 */
export async function openSession(
	connection: ClientConfig,
	lockTimeout: string,
): Promise<Client> {
	const settings = {
		statement_timeout: 0,
		idle_in_transaction_session_timeout: 0,
		lock_timeout: lockTimeout,
		client_encoding: "UTF8",
		search_path: "public",
		timezone: "UTC",
		datestyle: "ISO",
		intervalstyle: "postgres",
		bytea_output: "hex",
		extra_float_digits: 1,
	};
	const client = new Client({
		...connection,
		application_name: "assay backup",
		connectionTimeoutMillis: 10_000,
		keepAlive: true,
	});
	// What is under way fails by itself; unheard, the event would end the process.
	client.on("error", () => {});
	await client.connect();
	await client.query(sessionOf("none", settings));
	// From 17 on.
	await client.query(
		"select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'",
	);
	return client;
}
