import { devicesList } from "../../list-left.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";

/** The link from a page about devices to the list of devices. */
export function ToDevices() {
	const { organizationId } = useOrganization();
	return (
		<TextLink {...devicesList(organizationId)} inherit>
			Devices
		</TextLink>
	);
}
