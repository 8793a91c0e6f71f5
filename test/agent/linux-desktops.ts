import { checkScreenLock } from "../../agent/checks/linux/screen-lock.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { linux, processes } from "./recordings/linux.ts";

/** Checks the desktops of two users, Ada and Bob, as the files and `more` describe them. */
export const checkDesktops = (
	files: Record<string, string>,
	more: Partial<Recording> = {},
) =>
	checkScreenLock(
		recordedHost(
			linux({
				...more,
				files: { ...more.files, ...files },
				commands: { ...ACCOUNTS, ...more.commands },
			}),
		),
	);

const ACCOUNTS = {
	"getent passwd 1000": "ada:x:1000:1000:Ada Lovelace,,,:/home/ada:/bin/bash\n",
	"getent passwd 1001": "bob:x:1001:1001::/home/bob:/bin/zsh\n",
};

/** The beginning of a command that reads Ada's settings. */
export const ada =
	"runuser -u ada -- env HOME=/home/ada XDG_RUNTIME_DIR=/run/user/1000 ";

/** The processes of a window manager of Ada, and others of hers. */
export const manager = (
	name: string,
	...others: Parameters<typeof processes>
) =>
	processes(
		{ name, uid: 1000 },
		...others.map((other) => ({ uid: 1000, ...other })),
	);
