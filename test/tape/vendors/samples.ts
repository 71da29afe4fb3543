/** Small files of vendors' formats. Keys and headers are theirs, values are invented. */
export interface VendorSample {
  /** Name of the file. */
  name: string;
  content: string | Uint8Array;
}

const stamp = '1710509400123456789';

export const vendorSamples: readonly VendorSample[] = [
  {
    name: 'BAC.json',
    content: `{"results":[{"conditions":[12,37],"exchange":4,"id":"1","price":14.05,"sequence_number":1,"sip_timestamp":${stamp},"size":3,"trf_id":202}],"status":"OK","next_url":"https://api.massive.com/v3/trades/BAC?cursor=a"}\n{"results":[{"exchange":4,"id":"2","price":14.06,"sequence_number":2,"sip_timestamp":${stamp},"size":3}],"status":"OK"}`,
  },
  {
    name: 'SPY240419C00520000.json',
    content: `{"results":[{"ask_price":1.25,"bid_price":1.2,"sequence_number":7,"sip_timestamp":${stamp}}],"status":"OK"}`,
  },
  {
    name: 'bars.json',
    content:
      '{"ticker":"KO","adjusted":false,"status":"OK","results":[{"v":12,"vw":9,"o":9,"c":9,"h":9,"l":9,"t":1710509400000,"n":1}]}',
  },
  {
    name: 'chain.json',
    content: `{"results":[{"details":{"ticker":"O:SPY240419C00520000","shares_per_contract":100},"greeks":{"delta":0.3},"implied_volatility":0.1,"last_quote":{"ask":3.92,"bid":3.9,"last_updated":${stamp}},"open_interest":5,"day":{"volume":4,"last_updated":${stamp}},"underlying_asset":{"last_updated":${stamp},"price":511.7}}],"status":"OK"}`,
  },
];
