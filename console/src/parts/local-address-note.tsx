import { Text } from "@mantine/core";
import { isLocal } from "./local-address.ts";

/** Warns beside a link or command for others if its address leads only to the reader's computer. */
export function LocalAddressNote({
	address,
}: {
	address: string | null | undefined;
}) {
	if (!address || !isLocal(address)) return null;
	return (
		<Text size="sm" fw={500}>
			Only this computer can open this address. Set ASSAY_BASE_URL to the real
			address of Assay first.
		</Text>
	);
}
