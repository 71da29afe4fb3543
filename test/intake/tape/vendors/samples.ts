import { dbnFile, dbnSchemas, dbnTrade } from '../../../support/tapes/dbn-encoder.ts';

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
  {
    name: 'theta-trades.csv',
    content:
      'symbol,expiration,strike,right,timestamp,sequence,condition,size,exchange,price\nSPXW,2024-03-15,5100.000,PUT,2024-03-15T10:00:00.123,7,125,3,5,8.10\n',
  },
  {
    name: 'theta-quotes.csv',
    content:
      'root,expiration,strike,right,ms_of_day,bid,bid_condition,ask,ask_condition,date\nSPXW,20240315,5100000,P,36000123,8,50,8.2,50,20240315\n',
  },
  {
    name: 'theta.json',
    content:
      '{"header":{"format":["ms_of_day","open","high","low","close","volume","count","date"],"next_page":null},"response":[{"ticks":[[36000000,8,9,7,8,5,2,20240315]],"contract":{"root":"SPXW","expiration":20240315,"strike":5100000,"right":"P"}}]}',
  },
  {
    name: 'theta-chain.csv',
    content:
      'symbol,expiration,strike,right,timestamp,bid,ask,delta,gamma,implied_vol,underlying_timestamp,underlying_price\nSPXW,2024-03-15,5100.000,PUT,2024-03-15T10:00:00,8,8.2,-0.4,0.004,0.11,2024-03-15T10:00:00,5123.41\n',
  },
  {
    name: 'tradier.json',
    content:
      '{"options":{"option":[{"symbol":"SPY240419C00520000","root_symbol":"SPY","bid":3.9,"ask":3.92,"bid_date":1710511200000,"ask_date":1710511200000,"open_interest":5,"greeks":{"delta":0.3,"updated_at":"2024-03-15 13:59:08"}}]}}',
  },
  {
    name: 'KO.json',
    content:
      '{"series":{"data":[{"time":"2024-03-15T09:30:00","timestamp":1710509400,"open":9,"high":9,"low":9,"close":9,"volume":1}]}}',
  },
  {
    name: 'orats.csv',
    content:
      'ticker,tradeDate,expirDate,strike,stockPrice,callBidPrice,callAskPrice,putBidPrice,putAskPrice,delta,quoteDate\nSPY,2024-03-15,2024-04-19,520,511.7,3.9,3.92,11,11.2,0.33,2024-03-15T14:00:00Z\n',
  },
  {
    name: 'PEP.csv',
    content:
      'Date,Open,High,Low,Close,Adj Close,Volume,Dividends,Stock Splits\n2024-06-07 00:00:00-04:00,301.1000061035156,302.5,300,301.25,299.9,494966,0.0,0.0\n',
  },
  {
    name: 'calls.csv',
    content:
      ',contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,volume,openInterest,impliedVolatility\n0,AAPL240419C00200000,2024-03-15 14:00:57+00:00,200.0,5.7,5.6,5.8,2.0,11,0.27\n',
  },
  {
    name: 'trades.dbn',
    content: dbnFile({
      schema: dbnSchemas.trades,
      mappings: [{ symbol: 'SPY   240419C00520000', spans: [{ from: 20240315, to: 20240316, instrument: 7 }] }],
      records: [dbnTrade({ at: BigInt(stamp), price: 1.25, size: 7, sequence: 41 })],
    }),
  },
  {
    name: 'cores.json',
    content: '{"data":[{"ticker":"KO","tradeDate":"2024-03-15","pxCls":60,"iv30d":18.58}]}',
  },
];
