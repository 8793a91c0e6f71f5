import type { Config } from "../config/config.ts";

/**
 * Returns the settings with which a restored backup is served beside the service. They are those of
 * the service, without everything that reaches people or other systems. The address is one of this
 * machine, because requests for the name of the service lead to the service.
 */
export function configOfCopy(config: Config): Config {
	return Object.freeze({
		...config,
		isCopy: true,
		replicaUrl: undefined,
		host: "127.0.0.1",
		baseUrl: `http://localhost:${config.port}`,
		metricsPort: undefined,
		mail: undefined,
		archivePlace: undefined,
		oidc: undefined,
		passwordSignIn: "everybody",
	});
}
