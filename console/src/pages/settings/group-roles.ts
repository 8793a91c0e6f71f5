const ROLES = ["viewer", "member", "admin"] as const;

export interface GroupRole {
	group: string;
	role: (typeof ROLES)[number];
}

/** Writes one group a line, such as "Security team = admin". */
export function groupRolesText(list: readonly GroupRole[]): string {
	return list.map(({ group, role }) => `${group} = ${role}`).join("\n");
}

/** Reads lines such as "Security team = admin". Returns undefined if a line has another form. */
export function groupRolesIn(text: string): GroupRole[] | undefined {
	const found: GroupRole[] = [];
	for (const line of text.split("\n")) {
		if (line.trim() === "") continue;
		// A group's name may contain an equals sign.
		const split = line.lastIndexOf("=");
		const group = line.slice(0, Math.max(split, 0)).trim();
		const role = ROLES.find((one) => one === line.slice(split + 1).trim());
		if (group === "" || !role) return undefined;
		found.push({ group, role });
	}
	return found;
}
