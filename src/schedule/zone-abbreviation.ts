/** Knows which clock letters are abbreviations and which two zones to propose for each; refusing them is `zone-name.ts`'s matter. */

/**
 * Per line the letters, then the likeliest place, then either its fixed offset or the other place that uses the letters.
 * CET, EET, MET and WET are absent because they are zones of their own in the IANA database, as are GMT and UTC.
 */
const PROPOSALS = `
EST ET: America/New_York Etc/GMT+5
EDT: America/New_York Etc/GMT+4
CST CT: America/Chicago Asia/Shanghai
CDT: America/Chicago Etc/GMT+5
MST MT: America/Denver America/Phoenix
MDT: America/Denver Etc/GMT+6
PST PT: America/Los_Angeles Etc/GMT+8
PDT: America/Los_Angeles Etc/GMT+7
AKST: America/Anchorage Etc/GMT+9
AKDT: America/Anchorage Etc/GMT+8
HST HAST: Pacific/Honolulu Etc/GMT+10
HDT HADT: America/Adak Etc/GMT+9
AST: America/Halifax Asia/Riyadh
ADT: America/Halifax Etc/GMT+3
NST NDT: America/St_Johns America/Halifax
BRT BRST: America/Sao_Paulo Etc/GMT+3
ART: America/Argentina/Buenos_Aires Etc/GMT+3
CLT: America/Santiago Etc/GMT+4
CLST: America/Santiago Etc/GMT+3
COT: America/Bogota Etc/GMT+5
PET: America/Lima Etc/GMT+5
VET: America/Caracas Etc/GMT+4
UYT: America/Montevideo Etc/GMT+3
BOT: America/La_Paz Etc/GMT+4
AMT: America/Manaus Asia/Yerevan
BST: Europe/London Asia/Dhaka
IST: Asia/Kolkata Europe/Dublin
WEST: Europe/Lisbon Etc/GMT-1
MEZ: Europe/Berlin Etc/GMT-1
CEST MEST MESZ: Europe/Berlin Etc/GMT-2
EEST: Europe/Athens Etc/GMT-3
MSK: Europe/Moscow Etc/GMT-3
MSD: Europe/Moscow Etc/GMT-4
TRT: Europe/Istanbul Etc/GMT-3
IDT: Asia/Jerusalem Etc/GMT-3
IRST IRDT: Asia/Tehran UTC
GST: Asia/Dubai Atlantic/South_Georgia
AZT: Asia/Baku Etc/GMT-4
GET: Asia/Tbilisi Etc/GMT-4
AFT: Asia/Kabul UTC
PKT: Asia/Karachi Etc/GMT-5
UZT: Asia/Tashkent Etc/GMT-5
YEKT: Asia/Yekaterinburg Etc/GMT-5
NPT: Asia/Kathmandu UTC
BDT: Asia/Dhaka Etc/GMT-6
MMT: Asia/Yangon UTC
ICT: Asia/Bangkok Etc/GMT-7
NOVT: Asia/Novosibirsk Etc/GMT-7
WIB: Asia/Jakarta Etc/GMT-7
WITA: Asia/Makassar Etc/GMT-8
WIT: Asia/Jayapura Etc/GMT-9
HKT: Asia/Hong_Kong Etc/GMT-8
SGT: Asia/Singapore Etc/GMT-8
MYT: Asia/Kuala_Lumpur Etc/GMT-8
PHT: Asia/Manila Etc/GMT-8
JST: Asia/Tokyo Etc/GMT-9
KST: Asia/Seoul Etc/GMT-9
VLAT: Asia/Vladivostok Etc/GMT-10
AWST: Australia/Perth Etc/GMT-8
ACST: Australia/Adelaide Australia/Darwin
ACDT: Australia/Adelaide UTC
AEST: Australia/Sydney Australia/Brisbane
AEDT: Australia/Sydney Etc/GMT-11
LHST LHDT: Australia/Lord_Howe UTC
CHST: Pacific/Guam Etc/GMT-10
NZST: Pacific/Auckland Etc/GMT-12
NZDT: Pacific/Auckland Etc/GMT-13
FJT: Pacific/Fiji Etc/GMT-12
SST: Pacific/Pago_Pago Etc/GMT+11
WAT: Africa/Lagos Etc/GMT-1
CAT: Africa/Maputo Etc/GMT-2
SAST: Africa/Johannesburg Etc/GMT-2
EAT: Africa/Nairobi Etc/GMT-3
`

let proposals: Map<string, readonly [string, string]> | undefined

/** The two zones to propose for an abbreviation in any letter case, or undefined when the text is none. */
export function zonesMeantBy(letters: string): readonly [string, string] | undefined {
  proposals ??= readProposals()
  return proposals.get(letters.toUpperCase())
}

/** Every abbreviation that is refused. */
export function abbreviations(): string[] {
  proposals ??= readProposals()
  return [...proposals.keys()]
}

function readProposals(): Map<string, readonly [string, string]> {
  const read = new Map<string, readonly [string, string]>()
  for (const line of PROPOSALS.trim().split('\n')) {
    const [letters = '', zones = ''] = line.split(': ')
    const [likeliest = '', other = ''] = zones.split(' ')
    for (const word of letters.split(' ')) read.set(word, [likeliest, other])
  }
  return read
}
