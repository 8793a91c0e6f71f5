import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { devicesList } from "../../remembered-lists.ts";

/** The link from a page about devices to the list of devices. */
export function ToDevices() {
	const { organizationId } = useOrganization();
	return (
		<TextLink {...devicesList(organizationId)} inherit>
			Devices
		</TextLink>
	);
}
