import { Client, type ClientConfig } from "pg";
import { sessionOf } from "../db/server-sessions.ts";

/**
 * Opens a connection as the owner. On this connection, COPY writes and reads the same text whatever
 * the server's settings are, and a statement may take as long as it needs.
 */
export async function openOwnerConnection(
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
	// When the connection is lost, a running query fails with the error. Without a listener, this
	// event would end the process.
	client.on("error", () => {});
	await client.connect();
	await client.query(sessionOf("none", settings));
	// PostgreSQL has this setting since version 17, so the statement sets it only if it exists.
	await client.query(
		"select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'",
	);
	return client;
}
