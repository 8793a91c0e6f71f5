/** The key under which the browser keeps the data of the page. */
export const MY_DEVICES_KEY = ["my-devices"] as const;
